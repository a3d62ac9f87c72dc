"""What a host can do (skills, tools, extensions), and which of it may help with a question."""

from fingerpost.capabilities.engine import CapabilityDiscoveryEngine

__all__ = ["CapabilityDiscoveryEngine"]
