"""One module for each system that benchmarks/peers.py measures, ours among them.

Each has the sides that the system has, as functions of the same names: ``keyword``, ``vector``,
``hybrid`` and ``route`` take what is `given` and return a search; ``chooser`` takes described
sources and returns a choice. Importing a module imports its system, so that this can be timed.
"""
