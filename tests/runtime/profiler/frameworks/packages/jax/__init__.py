"""The part of JAX's interface that recording uses. A compilation is announced as JAX announces it."""

from . import monitoring, profiler

__version__ = "0.0.fake"


def compile_something():
    for listener in monitoring.listeners:
        listener("/jax/core/compile/jaxpr_trace_duration", 0.001)
        listener("/jax/core/compile/backend_compile_duration", 0.001)
