"""MXNet's profiler, with its file's real form."""

import json
import os
import time

_config = {"filename": "profile.json"}
_runs = os.environ.get("MXNET_PROFILER_AUTOSTART") == "1"
_events = []


def set_config(**kwargs):
    _config.update(kwargs)


def set_state(state="stop", profile_process="worker"):
    global _runs
    _runs = state == "run"


def dump(finished=True, profile_process="worker"):
    names = [{"ph": "M", "args": {"name": "cpu/0"}, "pid": 0, "name": "process_name"}]
    with open(_config["filename"], "w") as file:
        json.dump({"traceEvents": names + _events, "displayTimeUnit": "ms"}, file)
    _events.clear()


def dumps(reset=False):
    return ""


def pause(profile_process="worker"):
    pass


def resume(profile_process="worker"):
    pass


def _operator(name, begin_s):
    if not _runs:
        return
    for phase, now in (("B", begin_s), ("E", time.time())):
        _events.append({"name": name, "cat": "operator", "ph": phase, "ts": int(now * 1e6), "pid": 0, "tid": 12345678901234567890})
