"""ONNX Runtime: each session's profile is written into the folder of parts, by the session's own options.

A session for which the program has enabled profiling is left alone, and its profile is named.
"""

import atexit
import functools
import os
import sys
import weakref
from _thread import allocate_lock

from . import about


class _Locks:
    """One lock an object, while it is used: two threads may create sessions with the same options."""

    def __init__(self):
        self._all = {}
        self._guard = allocate_lock()

    def acquire(self, thing):
        with self._guard:
            entry = self._all.setdefault(id(thing), [allocate_lock(), 0])
            entry[1] += 1
        entry[0].acquire()

    def release(self, thing):
        with self._guard:
            entry = self._all[id(thing)]
            entry[1] -= 1
            if entry[1] == 0:
                del self._all[id(thing)]
        entry[0].release()


class _Recorder:
    def __init__(self, module, folder):
        self._module = module
        self._folder = folder
        self._locks = _Locks()
        self._recorded = {}  # weak references to sessions that we record, by id
        self._programs = {}  # id of a session that the program profiles: its About

    # --- Creating a session ---

    def create(self, original, session, args, kwargs):
        positional = len(args) > 1
        given = args[1] if positional else kwargs.get("sess_options")
        options, profile, before = given, None, None
        self._locks.acquire(given)
        try:
            try:
                if given is None:
                    options = self._module.SessionOptions()
                programs = options.enable_profiling
                profile = about.About("ONNX Runtime", self._folder)
                prefix = options.profile_file_prefix
                if not programs:
                    before = prefix
                    options.enable_profiling, options.profile_file_prefix = True, profile.stem
                    prefix = profile.stem
            except Exception as error:
                self._failed(error)
                if before is None:
                    options = given
            try:
                if positional:
                    args = (args[0], options) + args[2:]
                elif options is not None:
                    kwargs = dict(kwargs, sess_options=options)
                original(session, *args, **kwargs)
            finally:
                if before is not None:
                    options.enable_profiling, options.profile_file_prefix = False, before
        finally:
            self._locks.release(given)
        if profile is not None:
            try:
                self._created(session, profile, prefix, before is None)
            except Exception as error:
                self._failed(error)

    def _created(self, session, profile, prefix, is_programs):
        values = {}
        if hasattr(session, "get_profiling_start_time_ns"):
            values["start_unix_ns"] = session.get_profiling_start_time_ns()
        path = _newest(prefix)
        if path is not None:
            values["path"] = path
        profile.write(**values)
        if is_programs:
            self._programs[id(session)] = profile
            return
        key = id(session)
        self._recorded[key] = weakref.ref(session, lambda _: self._recorded.pop(key, None))
        if "multiprocessing.util" in sys.modules:  # its processes end without atexit
            sys.modules["multiprocessing.util"].Finalize(None, self.end, exitpriority=-100)

    def _failed(self, error):
        about.note("a session of ONNX Runtime is not recorded in process %d: %s" % (os.getpid(), about.text_of(error)))

    # --- Ending ---

    def end_profiling(self, original, session):
        if id(session) in self._recorded:
            return ""  # as of a session that is not profiled: the profile is ours
        path = original(session)
        profile = self._programs.pop(id(session), None)
        if profile is not None:
            try:
                profile.write(path=os.path.abspath(path))
            except Exception as error:
                self._failed(error)
        return path

    def end(self):
        """A session writes its profile when it ends. At the end of a process some do not."""
        for reference in list(self._recorded.values()):
            session = reference()
            try:
                if session is not None:
                    self._end(session)
            except Exception as error:
                self._failed(error)
        self._recorded.clear()

    def forget(self):
        """In a forked process, which has the parent's sessions and their open files."""
        self._recorded.clear()
        self._programs.clear()
        self._locks = _Locks()
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            for number in os.listdir("/proc/self/fd"):
                try:
                    if os.readlink("/proc/self/fd/" + number).startswith(os.path.join(self._folder, "ONNXRuntime-")):
                        os.dup2(nothing, int(number), inheritable=False)
                except OSError:
                    pass  # that of the listing itself
            os.close(nothing)
        except OSError:
            pass

    def install(self):
        session_class = self._module.InferenceSession
        create, end_profiling = session_class.__init__, session_class.end_profiling
        self._end = end_profiling

        @functools.wraps(create)
        def created(session, *args, **kwargs):
            return self.create(create, session, args, kwargs)

        @functools.wraps(end_profiling)
        def ended(session):
            return self.end_profiling(end_profiling, session)

        session_class.__init__ = created
        session_class.end_profiling = ended
        atexit.register(self.end)
        os.register_at_fork(after_in_child=self.forget)


def _newest(prefix):
    """The profile of this prefix that was begun last: ONNX Runtime adds date and time to the name."""
    folder, start = os.path.split(os.path.abspath(prefix))
    names = [name for name in os.listdir(folder) if name.startswith(start + "_") and name.endswith(".json")]
    paths = [os.path.join(folder, name) for name in names]
    return max(paths, key=os.path.getmtime, default=None)


def record(module, library):
    folder = about.parts_folder()
    if folder is not None:
        _Recorder(module, folder).install()
