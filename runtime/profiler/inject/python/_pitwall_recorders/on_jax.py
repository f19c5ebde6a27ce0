"""JAX: its profiler, for a window that begins when the program has compiled its first function.

Not before: starting it chooses the devices, which the program may still want to configure.
"""

import atexit
import functools
import glob
import os
import shutil
import sys
import time

from . import about

WINDOW_S = 60.0  # a trace of JAX is in memory until it ends


class _Recorder:
    def __init__(self, module, folder):
        self._profiler = module.profiler
        self._folder = folder
        self._process = os.getpid()
        self._state = "waits"  # runs, over
        self._profile = None
        self._programs = {}  # folders into which the program lets JAX write, with the time of its start

    def install(self, module):
        if not hasattr(self._profiler, "ProfileOptions"):
            # Without it the profiler also traces each call of a Python function, at many times the program's duration.
            about.note("JAX is not recorded: version %s has no jax.profiler.ProfileOptions" % module.__version__)
            return
        self._start, self._stop = self._profiler.start_trace, self._profiler.stop_trace
        for name in ("start_trace", "start_server"):
            self._hand_over_at(name)
        import jax.monitoring

        jax.monitoring.register_event_duration_secs_listener(self._event)
        atexit.register(self._at_exit)

    def _hand_over_at(self, name):
        original = getattr(self._profiler, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def handed_over(*args, **kwargs):
            self.end()
            if name == "start_trace" and (args or "log_dir" in kwargs):
                self._programs[os.path.abspath(args[0] if args else kwargs["log_dir"])] = time.time()
            return original(*args, **kwargs)

        setattr(self._profiler, name, handed_over)
        inner = sys.modules.get(original.__module__)  # jax.profiler.trace() calls it there
        if getattr(inner, name, None) is original:
            setattr(inner, name, handed_over)

    def _event(self, event, duration, **_):
        if self._state == "waits" and "backend_compile" in event:
            self._state = "over"
            try:
                self._begin()
            except Exception as error:
                about.note("JAX is not recorded in process %d: %s" % (os.getpid(), about.text_of(error)))

    def _begin(self):
        if os.getpid() != self._process:
            return
        import threading

        options = self._profiler.ProfileOptions()
        options.python_tracer_level = 0
        self._profile = about.About("JAX", self._folder)
        self._start(self._profile.stem, profiler_options=options)
        self._state = "runs"
        timer = threading.Timer(WINDOW_S, self.end)
        timer.daemon = True
        timer.start()

    def end(self):
        state, self._state = self._state, "over"
        if state != "runs" or os.getpid() != self._process:
            return
        try:
            self._stop()
            for path in _profiles(self._profile.stem):
                os.replace(path, self._profile.stem + ".xplane.pb")
                self._profile.write(path=self._profile.stem + ".xplane.pb")
            shutil.rmtree(self._profile.stem, ignore_errors=True)
        except Exception as error:
            about.note("JAX's profile of process %d is missing: %s" % (os.getpid(), about.text_of(error)))

    def _at_exit(self):
        self.end()
        if os.getpid() != self._process:
            return
        for folder, began in self._programs.items():
            for path in _profiles(folder):
                if os.path.getmtime(path) >= began:
                    about.About("JAX", self._folder).write(path=path)


def _profiles(folder):
    return glob.glob(os.path.join(glob.escape(folder), "plugins/profile/*/*.xplane.pb"))


def record(module, library):
    folder = about.parts_folder()
    if folder is not None:
        _Recorder(module, folder).install(module)
