"""MXNet: its own profiler, from the import of the package to the end of the process or the program's first use of it.

That profiler records either all calls of MXNet's library or none, and they take half of its time. Operators alone are recorded, and of the
calls those that wait for results, copy or run operators in bulk, as tasks of the profiler that have their names.
"""

import atexit
import ctypes
import functools
import os
import sys
import threading
from _thread import get_ident, get_native_id

from . import about

# By any of these a program that profiles itself takes the profiler over.
_CONTROLS = (
    "set_config profiler_set_config set_state profiler_set_state dump dump_profile dumps pause resume".split()
)

# Those that the reader of MXNet's profiles and the analyses know by their names.
_CALLS = (
    "MXAutogradBackward MXAutogradBackwardEx MXAutogradComputeGradient MXInvokeCachedOp MXInvokeCachedOpEx MXEngineSetBulkSize "
    "MXExecutorForward MXExecutorBackward MXExecutorBackwardEx MXNDArraySyncCopyFromCPU MXNDArraySyncCopyToCPU "
    "MXNDArrayWaitAll MXNDArrayWaitToRead MXNDArrayWaitToWrite"
).split()


class _Calls:
    """Calls of MXNet's library as tasks of its profiler."""

    def __init__(self, module):
        self._library = module.base._LIB
        self._task = module.profiler.Task
        self._domain = module.profiler.Domain("MXNET_C_API")
        self._tasks = threading.local()  # a task has one start at a time

    def begin(self):
        for name in _CALLS:
            if hasattr(self._library, name):
                setattr(self._library, name, self._recorded(name, getattr(self._library, name)))

    def end(self):
        for name in _CALLS:
            self._library.__dict__.pop(name, None)  # looked up again at the next call

    def _recorded(self, name, function):
        tasks, domain, make = self._tasks, self._domain, self._task

        def call(*args):
            task = tasks.__dict__.get(name)
            if task is None:
                task = tasks.__dict__[name] = make(domain, name)
            task.start()
            try:
                return function(*args)
            finally:
                task.stop()

        return call


class _Recorder:
    def __init__(self, module, folder):
        self._profiler = module.profiler
        self._calls = _Calls(module)
        self._waitall = module.nd.waitall
        self._folder = folder
        self._process = os.getpid()
        self._runs = False

    def begin(self):
        profile = about.About("MXNet", self._folder)
        # Written each second: a killed process keeps what it had written.
        self._original("set_config")(
            filename=profile.stem + ".json", continuous_dump=True, dump_period=1,
            profile_symbolic=True, profile_imperative=True, profile_memory=True, profile_api=False
        )
        self._original("set_state")("run")
        self._calls.begin()
        self._runs = True
        profile.write(path=profile.stem + ".json", thread="%d %d" % (get_ident(), get_native_id()))
        for name in _CONTROLS:
            original = getattr(self._profiler, name, None)
            if original is not None:
                setattr(self._profiler, name, self._control(name, original))
        atexit.register(self.end)

    def _original(self, name):
        function = getattr(self._profiler, name)
        return getattr(function, "__wrapped__", function)

    def _control(self, name, original):
        @functools.wraps(original)
        def control(*args, **kwargs):
            try:
                if self._runs and os.getpid() == self._process:
                    self.end()
                if name in ("set_config", "profiler_set_config"):
                    self._name_programs(kwargs.get("filename", args[1] if len(args) > 1 else None))
            except Exception as error:
                about.note("MXNet is not recorded in process %d: %s" % (os.getpid(), about.text_of(error)))
            return original(*args, **kwargs)

        return control

    def _name_programs(self, path):
        name_programs_profile(self._folder, path or "profile.json")

    def end(self):
        if not self._runs or os.getpid() != self._process:
            return
        self._runs = False
        self._calls.end()
        try:
            self._waitall()  # what it still computes is part of the profile
        except Exception:
            pass  # an operator that failed: the program has the error, or ends without asking for it
        self._original("set_state")("stop")
        self._original("dump")(True)


def name_programs_profile(folder, path):
    about.About("MXNet", folder).write(path=os.path.abspath(path))


def _mark_iterations(module, library):
    """Each optimizer step of a Trainer or Module ends an iteration."""
    calls = ctypes.PyDLL(library)
    calls.pitwall_iteration.argtypes, calls.pitwall_iteration.restype = [ctypes.c_int64], None
    started = []  # processes that record

    def marked(step):
        @functools.wraps(step)
        def step_and_mark(self, *args, **kwargs):
            result = step(self, *args, **kwargs)
            if "pitwall" not in sys.modules:  # a program that uses it marks its iterations itself
                if os.getpid() not in started:
                    started.append(os.getpid())
                    calls.pitwall_start(None)
                calls.pitwall_iteration(0)
            return result

        return step_and_mark

    module.gluon.Trainer.step = marked(module.gluon.Trainer.step)
    module.module.Module.update = marked(module.module.Module.update)


def record(module, library):
    folder = about.parts_folder()
    if folder is None:
        return
    if os.environ.get("MXNET_PROFILER_AUTOSTART", "0") not in ("", "0"):
        name_programs_profile(folder, "profile.json")
    else:
        _Recorder(module, folder).begin()
    _mark_iterations(module, library)
