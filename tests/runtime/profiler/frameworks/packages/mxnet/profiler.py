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


class Domain:
    def __init__(self, name):
        self.name = name


class Task:
    def __init__(self, domain, name):
        self._domain, self._name = domain, name

    def start(self):
        self._begin_s = time.time()

    def stop(self):
        _add(self._name, self._domain.name, "b", "e", self._begin_s)


def _operator(name, begin_s):
    _add(name, "operator", "B", "E", begin_s)


def _add(name, category, begin, end, begin_s):
    if not _runs:
        return
    for phase, now in ((begin, begin_s), (end, time.time())):
        event = {"name": name, "cat": category, "ph": phase, "ts": int(now * 1e6), "pid": 0, "tid": 12345678901234567890}
        _events.append(event | ({"id": 12345678901234567890} if phase in "be" else {}))
