"""The part of ONNX Runtime's interface that recording uses, with its profile's real form. A run takes 2 ms."""

import json
import os
import threading
import time


class SessionOptions:
    def __init__(self):
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"


class Session:
    def end_profiling(self):
        return self._write()

    def _write(self):
        if self._events is None:
            return ""
        with open(self._path, "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(event) for event in self._events) + "\n]\n")
        self._events = None
        return self._path

    def get_profiling_start_time_ns(self):
        return self._start_ns

    def get_session_options(self):
        return self._options


class InferenceSession(Session):
    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        self._options = sess_options
        self._events = None
        self._start_ns = 0
        if path_or_bytes == "no model":
            raise ValueError("no model")
        if sess_options is None or not sess_options.enable_profiling:
            return
        self._start_ns = time.time_ns()
        self._events = []
        self._path = time.strftime(sess_options.profile_file_prefix + "_%Y-%m-%d_%H-%M-%S_000.json")
        open(self._path, "w").close()
        self._event("Session", "session_initialization", time.time_ns(), {})

    def run(self, output_names, feeds):
        begin = time.time_ns()
        time.sleep(0.002)
        shapes = [{"float": [2, 3]}]
        self._event("Node", "dense_kernel_time", begin, {"op_name": "Gemm", "provider": "CPUExecutionProvider", "node_index": "0",
                    "input_type_shape": shapes, "output_type_shape": shapes})
        self._event("Session", "model_run", begin, {})

    def _event(self, category, name, begin_ns, args):
        if self._events is not None:
            self._events.append({"cat": category, "pid": os.getpid(), "tid": threading.get_native_id(), "name": name, "ph": "X",
                "ts": (begin_ns - self._start_ns) // 1000, "dur": (time.time_ns() - begin_ns) // 1000, "args": args})

    def __del__(self):
        self._write()
