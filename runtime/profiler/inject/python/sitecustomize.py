"""Records the frameworks of a Python program that is not changed for it.

`pitwall record` puts this file's folder first in PYTHONPATH, so that Python executes it before the program. It gives up
its place to the user's own sitecustomize, waits until the program imports a framework, and then calls that framework's
recorder in _pitwall_recorders. Whatever goes wrong here, the program runs as it does alone; the recording's notes say it.
"""

import os
import sys
from _thread import _local  # every process starts with this file: threading takes milliseconds to import

_FRAMEWORKS = ("torch", "onnxruntime", "mxnet", "jax")


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


def _recorder(folder, name):
    """The module _pitwall_recorders.NAME, from our folder, which sys.path does not have."""
    import importlib.util

    package = "_pitwall_recorders"
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # nothing is left in the installation's folder
    try:
        if package not in sys.modules:
            place = os.path.join(folder, package)
            spec = importlib.util.spec_from_file_location(
                package, os.path.join(place, "__init__.py"), submodule_search_locations=[place]
            )
            module = importlib.util.module_from_spec(spec)
            sys.modules[package] = module
            spec.loader.exec_module(module)
        return importlib.import_module("%s.%s" % (package, name))
    finally:
        sys.dont_write_bytecode = writes


class _FrameworkFinder:
    """The first finder of modules: calls `then(name, module)` when one of `names` has been imported. Finds nothing itself."""

    def __init__(self, names, then):
        self._waiting = set(names)
        self._then = then
        self._asking = _local()

    def find_spec(self, name, path=None, target=None):
        if name not in self._waiting or getattr(self._asking, "now", False):
            return None
        import importlib.util

        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader.exec_module = self._recorded(name, spec.loader.exec_module)
        return spec

    def _recorded(self, name, execute):
        def execute_and_record(module):
            execute(module)
            try:
                if name in self._waiting:
                    self._waiting.discard(name)
                    self._then(name, module)
            except BaseException:
                pass

        return execute_and_record


def _begin():
    folder = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(os.path.dirname(os.path.dirname(folder)), "libpitwall_inject.so")

    def record(name, module):
        recorder = _recorder(folder, "on_" + name)
        about = _recorder(folder, "about")
        try:
            recorder.record(module, library)
        except Exception as error:
            about.note("%s is not recorded in process %d: %s" % (name, os.getpid(), about.text_of(error)))

    if os.environ.get("PITWALL_TRACE") and os.path.exists(library):
        sys.meta_path.insert(0, _FrameworkFinder(_FRAMEWORKS, record))
    return folder


try:
    _folder = _begin()
except BaseException:
    _folder = None
if _folder is not None:
    _run_next_sitecustomize(_folder)
