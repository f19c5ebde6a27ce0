"""Records the operators of PyTorch in a Python program that is not changed for it.

`pitwall record` puts this file's folder first in PYTHONPATH, so that Python executes it before the program. It gives up
its place to the user's own sitecustomize, waits until the program imports torch, and then calls the recorder's library.
Whatever goes wrong here, the program runs as it does alone.
"""

import os
import sys
from _thread import _local  # every process starts with this file: threading takes milliseconds to import


def _run_next_sitecustomize(folder):
    """Python executes only the first sitecustomize that it finds."""
    import importlib.machinery

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    import importlib.util

    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _record_torch(module, library):
    import ctypes

    parts = module.__version__.split(".")
    version = (int(parts[0]), int(parts[1]))
    if not (1, 13) <= version < (3, 0):
        sys.stderr.write(
            "pitwall: PyTorch's operators are not recorded: version %s is not one of 1.13 to 2.x\n" % module.__version__
        )
        return
    ctypes.CDLL(library).pitwall_inject_torch()


class _TorchFinder:
    """The first finder of modules: calls `then(module)` when torch has been imported. Finds nothing itself."""

    def __init__(self, then):
        self._then = then
        self._asking = _local()

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or getattr(self._asking, "now", False):
            return None
        import importlib.util

        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader.exec_module = self._recorded(spec.loader.exec_module)
        return spec

    def _recorded(self, execute):
        def execute_and_record(module):
            execute(module)
            try:
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    self._then(module)
            except BaseException:
                pass

        return execute_and_record


def _begin():
    folder = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(os.path.dirname(os.path.dirname(folder)), "libpitwall_inject.so")
    if os.environ.get("PITWALL_TRACE") and os.path.exists(library):
        sys.meta_path.insert(0, _TorchFinder(lambda module: _record_torch(module, library)))
    return folder


try:
    _folder = _begin()
except BaseException:
    _folder = None
if _folder is not None:
    _run_next_sitecustomize(_folder)
