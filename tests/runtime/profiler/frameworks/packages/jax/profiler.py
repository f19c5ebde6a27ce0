"""Writes an XPlane file with one event, in the form that its reader's tests check against the real one."""

import os
import time

_folder = None
_began = 0


class ProfileOptions:
    python_tracer_level = 1
    host_tracer_level = 2


def _number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _field(number, content):
    if isinstance(content, int):
        return _number(number << 3) + _number(content)
    return _number(number << 3 | 2) + _number(len(content)) + content


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    global _folder, _began
    if _folder is not None:
        raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
    assert profiler_options is None or profiler_options.python_tracer_level == 0
    _folder, _began = os.fspath(log_dir), time.time_ns()


def stop_trace():
    global _folder
    folder = os.path.join(_folder, "plugins/profile/2026_01_02_03_04_05")
    _folder = None
    os.makedirs(folder)
    event = _field(1, 1) + _field(2, 1000) + _field(3, 5_000_000)
    line = _field(1, os.getpid()) + _field(2, b"python") + _field(3, _began) + _field(4, event)
    metadata = _field(1, 1) + _field(2, b"PjitFunction(step)")
    plane = _field(1, 1) + _field(2, b"/host:CPU") + _field(3, line) + _field(4, _field(1, 1) + _field(2, metadata))
    with open(os.path.join(folder, "host.xplane.pb"), "wb") as file:
        file.write(_field(1, plane))


def start_server(port):
    return None
