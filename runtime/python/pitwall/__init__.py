"""Marks a Python program for Pitwall's traces: zones, iterations, counters and tunables.

    import pitwall

    batch = pitwall.tunable("batch_size", 32, minimum=1, maximum=1024)
    for images, labels in loader:
        pitwall.iteration(items=batch)
        with pitwall.zone("forward"):
            loss = model(images)
        pitwall.counter("loss", loss)

Run the program with `pitwall record -- python3 train.py`: the marks become part of that trace. Or record a part of a
program yourself: `with pitwall.profile("run.pitwall"):`. Otherwise the marks do nothing and cost a function call.

Needs libpitwall.so.0, which is installed with Pitwall; without it the marks do nothing, and profile() raises OSError.
Every function may be called from any thread. A forked child is recorded as its parent is, by `pitwall record` alone.
"""

import ctypes
import functools
import inspect
import os
import sys

__all__ = [
    "PitwallError",
    "counter",
    "instant",
    "is_recording",
    "iteration",
    "name_thread",
    "profile",
    "tunable",
    "zone",
]

_INT64 = 2**63


class PitwallError(Exception):
    """A recording that could not begin, or is not whole."""


def _library_paths():
    """The recorder's own library first: what is in a process already must not be loaded a second time."""
    folder = os.path.dirname(os.path.abspath(__file__))
    injected = os.environ.get("NVTX_INJECTION64_PATH", "")
    if os.path.basename(injected) == "libpitwall_inject.so":
        yield injected
    if "PITWALL_LIBRARY" in os.environ:
        yield os.environ["PITWALL_LIBRARY"]
    # PREFIX/lib/python3/dist-packages/pitwall or, in a build, lib/python/pitwall.
    for above in ("../../..", "../.."):
        for place in ("", "x86_64-linux-gnu", "aarch64-linux-gnu"):
            path = os.path.normpath(os.path.join(folder, above, place, "libpitwall.so.0"))
            if os.path.exists(path):
                yield path
    yield "libpitwall.so.0"


def _declare(library):
    text, integer, real, site = ctypes.c_char_p, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
    for name, result, arguments in (
        ("start", ctypes.c_int, [text]),
        ("stop", ctypes.c_int, []),
        ("is_recording", ctypes.c_int, []),
        ("last_error", text, []),
        ("scope_begin", ctypes.c_uint64, [site]),
        ("scope_end_value", None, [site, ctypes.c_uint64, integer]),
        ("instant", None, [site, integer]),
        ("counter", None, [site, real]),
        ("iteration", None, [integer]),
        ("tunable", integer, [text, integer, integer, integer]),
        ("name_thread", None, [text]),
        ("make_site", site, [text, text]),
    ):
        function = getattr(library, "pitwall_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class _Recorder:
    """The library, loaded at the first use, and the sites by name."""

    def __init__(self):
        self.failure = None
        self._slow = None
        self._quick = None  # keeps the interpreter's lock: for calls that take nanoseconds
        self._sites = {}

    def load(self):
        if self._quick is None and self.failure is None:
            for path in _library_paths():
                try:
                    quick, self._slow = _declare(ctypes.PyDLL(path)), _declare(ctypes.CDLL(path))
                    self._quick = quick  # last: other threads use both once it is there
                    break
                except (OSError, AttributeError) as error:
                    self.failure = self.failure or error
        return self._quick is not None

    def call(self, name, *arguments):
        """Functions that may wait for a disk or a lock."""
        return getattr(self._slow, "pitwall_" + name)(*arguments)

    def last_error(self):
        return self._slow.pitwall_last_error().decode("utf-8", "replace")

    def site(self, name, domain=""):
        known = self._sites.get((name, domain))
        if known is None:
            known = self._quick.pitwall_make_site(_text(name), _text(domain))
            known = self._sites.setdefault((name, domain), known)
        return known

    def join(self):
        """The recording of `pitwall record`, where this process has one."""
        if os.environ.get("PITWALL_TRACE") and self.load():
            return self.call("start", None) == 0
        return False


def _text(text):
    return str(text).encode("utf-8", "replace").replace(b"\0", b" ")


def _int64(number):
    return max(-_INT64, min(_INT64 - 1, int(number)))


class _Joining:
    """Stands for the library until the first mark: a process that makes none leaves no file."""

    def __getattr__(self, name):
        _begin(_recorder.join())
        library = _quick
        return getattr(library, name) if library is not None else lambda *_: 0


_recorder = _Recorder()
_quick = None  # the library while something is recorded, else None: what every mark tests


def _begin(recording):
    global _quick
    _quick = _recorder._quick if recording else None


def _begin_at_first_mark():
    global _quick
    _quick = _Joining() if os.environ.get("PITWALL_TRACE") and _recorder.load() else None


def is_recording():
    """Whether marks are recorded now."""
    library = _quick
    return library is not None and library.pitwall_is_recording() != 0


class zone:
    """The time that a block or a function takes, under a name.

    with pitwall.zone("load"): ...          with pitwall.zone("load", domain="input", value=len(batch)): ...
    @pitwall.zone("load")                   @pitwall.zone            (the function's own name)
    def load(): ...                         def load(): ...

    Zones of a thread nest; threads must not share one object of this class. A zone must end on the thread where it began, so coroutines and generators cannot be
    decorated: use `with` around what they do between two awaits or yields. `value` is an integer that the event carries; it may
    be set inside: `with pitwall.zone("load") as zone: zone.value = len(read())`.
    """

    __slots__ = ("_name", "_domain", "value", "_tokens")

    def __new__(cls, name, domain="", value=0):
        made = object.__new__(cls)
        if callable(name):
            made.__init__(name.__qualname__, domain, value)
            return made(name)
        return made

    def __init__(self, name, domain="", value=0):
        self._name, self._domain, self.value = str(name), domain, value
        self._tokens = []

    def __enter__(self):
        library = _quick
        if library is None:
            self._tokens.append(None)
            return self
        site = _recorder.site(self._name, self._domain)
        self._tokens.append((library, site, library.pitwall_scope_begin(site)))
        return self

    def __exit__(self, *_):
        token = self._tokens.pop()
        if token is not None:
            library, site, started = token
            library.pitwall_scope_end_value(site, started, _int64(self.value))
        return False

    def __call__(self, function):
        for is_kind, kind in (
            (inspect.iscoroutinefunction, "coroutine"),
            (inspect.isasyncgenfunction, "generator"),
            (inspect.isgeneratorfunction, "generator"),
        ):
            if is_kind(function):
                raise TypeError(
                    "pitwall.zone: %s is a %s, which gives up its thread in the middle: use `with pitwall.zone(...)` "
                    "inside it" % (function.__qualname__, kind)
                )
        name, domain, value = self._name, self._domain, self.value

        @functools.wraps(function)
        def recorded(*arguments, **named):
            if _quick is None:
                return function(*arguments, **named)
            with zone(name, domain, value):
                return function(*arguments, **named)

        return recorded


def iteration(items=0):
    """An iteration of `items` samples (0: unknown) begins, and the one before it ends. Call it at the top of the loop."""
    library = _quick
    if library is not None:
        library.pitwall_iteration(_int64(items))


def counter(name, value, unit=""):
    """A value over time, such as the length of a queue."""
    library = _quick
    if library is not None:
        library.pitwall_counter(_recorder.site("%s|%s" % (name, unit) if unit else name), float(value))


def instant(name, value=0, domain=""):
    """A moment."""
    library = _quick
    if library is not None:
        library.pitwall_instant(_recorder.site(name, domain), _int64(value))


def name_thread(name):
    """Names the calling thread in the trace."""
    library = _quick
    if library is not None:
        library.pitwall_name_thread(_text(name))


def tunable(name, value, minimum=None, maximum=None):
    """Declares an integer that the program chooses, and returns it.

    PITWALL_TUNE_<name> in the environment replaces `value` if it is from `minimum` to `maximum`; anything else is reported on
    standard error. The trace lists a program's tunables, so that `pitwall analyze` can propose others.
    """
    name, value = str(name), int(value)
    low = -_INT64 if minimum is None else _int64(minimum)
    high = _INT64 - 1 if maximum is None else _int64(maximum)
    if not low <= value <= high:
        raise ValueError("pitwall.tunable: %s is %d, which is not from %d to %d" % (name, value, low, high))
    if not _recorder.load():
        return value
    return _recorder.call("tunable", _text(name), value, low, high)


class profile:
    """Records the program from here: `with pitwall.profile("run.pitwall"): ...`, or start() and stop().

    In a program that `pitwall record` records already, the marks become part of that trace, and `path` is not used.
    """

    def __init__(self, path="python.pitwall"):
        self._path = os.fspath(path)

    def start(self):
        if not _recorder.load():
            raise OSError("pitwall: libpitwall.so.0 cannot be loaded: %s" % _recorder.failure)
        if _recorder.call("start", os.fsencode(self._path)) != 0:
            raise PitwallError(_recorder.last_error())
        _begin(True)
        return self

    def stop(self):
        failed = _recorder.call("stop") != 0
        _begin(bool(os.environ.get("PITWALL_TRACE")) and not failed)
        if failed:
            raise PitwallError("%s: %s" % (self._path, _recorder.last_error()))

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        return False


try:
    _begin_at_first_mark()
    os.register_at_fork(after_in_child=lambda: _begin_at_first_mark() if _quick is not None else None)
except BaseException as _error:  # whatever goes wrong here, the program runs as it does alone
    sys.stderr.write("pitwall: marks are not recorded: %s\n" % _error)
