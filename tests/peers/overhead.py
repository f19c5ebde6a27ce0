#!/usr/bin/env python3
"""How much longer unchanged programs take under `pitwall record`: a Markdown table for docs/benchmarks.md.

    tests/peers/overhead.py [--bin build/release/bin] [--venvs FOLDER] [--rounds 10] [--scale 1] [--stacks auto] [PROGRAM...]

In a round each program runs alone, sampled (--framework none) and with the framework's operators, all three at once in turns
of 0.1 s: while one runs, the processes of the others are stopped. So the speed of a machine that changes from second to
second is that of all three. The time of a run is what its turns took between the first step and the last. The table has the ratios of
the rounds: median with the interval that holds it in 95 of 100 such measurements (order statistics). Needs an idle machine; the
programs' environments are made by tests/peers/run.sh. Prints the load before and after. PyTorch's programs load their data
themselves here: worker processes would fill their queue while the training process is stopped.
"""

import argparse
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
STEPS = {"numpy": 3000, "torch1": 300, "torch": 300, "onnxruntime": 2000, "mxnet": 500, "jax": 3000}
FILES = {"numpy": "numpy_train", "torch1": "torch_train", "torch": "torch_train", "onnxruntime": "onnx_infer",
         "mxnet": "mxnet_train", "jax": "jax_train"}
TURN_SECONDS = 0.1


def python_of(name, venvs):
    return "/usr/bin/python3" if name in ("numpy", "torch1") else str(venvs / name / "bin/python")


class Run:
    """A command that runs in turns, in a separate session."""

    def __init__(self, command):
        self.command, self.used, self.turn_began = command, 0.0, None
        self.first_step, self.last_step = None, None  # seconds of its turns
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.turn_began = time.monotonic()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            # A line that arrives after the turn was sent within it.
            seconds = self.used + (time.monotonic() - self.turn_began if self.turn_began else 0)
            if line.startswith("first step done"):
                self.first_step = seconds
            elif line.startswith("seconds a step"):
                self.last_step = seconds

    def signal(self, number):
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open("/proc/%s/stat" % entry) as stat:
                    session = int(stat.read().rsplit(")", 1)[1].split()[3])
                if session == self.process.pid:
                    os.kill(int(entry), number)
            except OSError:
                pass  # it has ended

    def stop(self):
        self.signal(signal.SIGSTOP)
        self.used, self.turn_began = self.used + time.monotonic() - self.turn_began, None

    def take_turn(self):
        self.turn_began = time.monotonic()
        self.signal(signal.SIGCONT)
        time.sleep(TURN_SECONDS)
        self.stop()

    def until(self, is_reached):
        while not is_reached() and self.process.poll() is None:
            time.sleep(0.01)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.turn_began = self.turn_began or time.monotonic()
        self.signal(signal.SIGCONT)
        code = self.process.wait()
        self.reader.join()
        if code != 0 or self.first_step is None or self.last_step is None:
            raise SystemExit("%s: exit code %d" % (" ".join(self.command), code))


def step_seconds(commands, steps):
    """The time of a step of each command, all run in turns."""
    runs = []
    try:
        return run_in_turns(commands, steps, runs)
    except BaseException:
        for run in runs:  # a stopped program would stay for ever
            run.kill()
        raise


def run_in_turns(commands, steps, runs):
    for command in commands:
        run = Run(command)
        runs.append(run)
        run.until(lambda: run.first_step is not None)
        run.stop()
    waiting = list(runs)
    while waiting:
        random.shuffle(waiting)
        for run in waiting:
            run.take_turn()
        ended = [run for run in waiting if run.last_step is not None or run.process.poll() is not None]
        for run in ended:  # what it does after its last step is not measured
            run.end()
        waiting = [run for run in waiting if run not in ended]
    return [(run.last_step - run.first_step) / steps for run in runs]


def interval(ratios):
    """The narrowest pair of order statistics that holds the median with at least 95 %."""
    ratios, n = sorted(ratios), len(ratios)
    for low in range(n // 2, -1, -1):
        outside = 2 * sum(math.comb(n, k) for k in range(low + 1)) / 2**n
        if outside <= 0.05:
            return ratios[low], ratios[n - 1 - low]
    return ratios[0], ratios[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build/release/bin")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path.home() / ".cache/pitwall-peers")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--scale", type=float, default=1, help="of the number of steps")
    parser.add_argument("--stacks", default="auto", help="of the sampled runs: auto, python, native or off")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    os.environ["WORKERS"] = "0"
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    print("| program | a step alone | sampled | with operators |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.programs or STEPS:
            if not os.path.exists(python_of(name, given.venvs)):
                print("| %s | not installed | | |" % name)
                continue
            steps = max(1, int(STEPS[name] * given.scale))
            program = [python_of(name, given.venvs), str(HERE / "programs" / (FILES[name] + ".py")), str(steps)]
            record = [str(given.bin / "pitwall"), "record", "-q", "-o"]
            ways = [program,
                    record + [os.path.join(folder, "sampled.pitwall"), "--framework", "none", "--stacks", given.stacks,
                              "--"] + program,
                    record + [os.path.join(folder, "operators.pitwall"), "--"] + program]
            step_seconds([way[:-1] + ["10"] for way in ways], 10)  # files into the page cache, bytecode compiled
            rounds = [step_seconds(ways, steps) for _ in range(given.rounds)]
            cells = ["%.3f ms" % (statistics.median(times[0] for times in rounds) * 1e3)]
            for way in (1, 2):
                ratios = [times[way] / times[0] - 1 for times in rounds]
                low, high = interval(ratios)
                cells.append("%+.1f %% (%+.1f to %+.1f)" % (100 * statistics.median(ratios), 100 * low, 100 * high))
            print("| %s | %s |" % (name, " | ".join(cells)), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
