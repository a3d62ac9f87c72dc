"""Neural networks in a file, run on the processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["open_session"]


def open_session(runtime: Any, model: Path) -> Any:
    """Return a session that many threads may run at once, each on one core.

    Args:
        runtime: The module ``onnxruntime``.
        model: The file.

    Raises:
        Exception: It cannot be loaded; onnxruntime has a class per status, none of them public.
    """
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # One arena for all threads: without it each thread's allocator keeps its own largest
    # activations (191 MB against 134 MB with two threads).
    options.enable_cpu_mem_arena = True
    options.log_severity_level = 3
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
