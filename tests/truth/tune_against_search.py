#!/usr/bin/env python3
"""Compares `pitwall tune` with trying everything, on a quiet machine and by hand:

    tests/truth/tune_against_search.py [--build build/release] [--part NAME]... [--pairs 6] [--repeats 20]

Each of the parts lenet, executor and python is a program with a bad setting in its environment, and a space of values. The
search that tries everything runs each combination of the values as often as tune confirms one, in random order; the
combination with the best median is its answer. Then both answers are measured against each other in fresh pairs. The part
sleep gives tune a program whose time no setting changes, again and again, and counts what it calls a gain.

The exit code is 0 only when tune's answer is within 2 % of the other, after a third of its runs at most, and at most one
repeat of the part sleep has a gain."""

import argparse
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import machine

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
METRIC = r"items_per_second ([0-9.e+]+)"
NEEDED_RATIO, NEEDED_RUNS = 0.98, 1 / 3
PAIRS_BETWEEN = 40  # of the two answers


class Part:
    """A program, what is set for it at first, the values to try for each of its parameters, and what it takes where nothing is set."""

    def __init__(self, command, first, space, defaults, seconds_metric=False):
        self.command, self.first, self.space, self.defaults, self.seconds_metric = command, first, space, defaults, seconds_metric

    def in_effect(self, settings):
        return self.defaults | self.first | settings

    def environment(self, settings):
        return machine.clean_environment() | self.first | settings

    def speed(self, settings):
        """Items per second, or runs per second, of one run."""
        begin = time.monotonic()
        done = subprocess.run(self.command, env=self.environment(settings), capture_output=True, text=True, check=True)
        if self.seconds_metric:
            return 1 / (time.monotonic() - begin)
        return float(re.findall(METRIC, done.stdout)[-1])

    def combinations(self):
        names = list(self.space)
        return [dict(zip(names, values)) for values in itertools.product(*self.space.values())]


def parts(build):
    cpus = len(machine.os.sched_getaffinity(0))
    threads = [str(n) for n in range(1, 2 * cpus + 1)]
    openblas = str(machine.openblas(build))
    return {
        # Its batches are made by the training thread at first.
        "lenet": Part([f"{build}/bin/train_lenet", "--synthetic", "--epochs", "1000", "--steps", "150"],
                      {"OMP_NUM_THREADS": "1"},
                      {"OMP_NUM_THREADS": threads, "MXNET_CPU_WORKER_NTHREADS": ["1", "2"],
                       "PITWALL_TUNE_prefetch_threads": ["0", "1", "2", "3"]}, {}, seconds_metric=True),
        "executor": Part([f"{build}/bin/truth/image_network", "--seconds", "2.5", "--number", "4", "--train"],
                         {"OMP_NUM_THREADS": "1", "MXNET_BACKWARD_DO_MIRROR": "1"},
                         {"OMP_NUM_THREADS": threads, "MXNET_BACKWARD_DO_MIRROR": ["0", "1"],
                          "MXNET_EXEC_ENABLE_INPLACE": ["0", "1"], "MXNET_EXEC_NUM_TEMP": ["1", "4"]},
                         {"MXNET_EXEC_ENABLE_INPLACE": "1", "MXNET_EXEC_NUM_TEMP": "1"}),
        "python": Part([machine.PYTHON, str(FOLDER / "programs/np_temporaries.py"), "--seconds", "1"],
                       {"LD_LIBRARY_PATH": openblas},
                       {"OPENBLAS_NUM_THREADS": threads, "MALLOC_MMAP_MAX_": ["0", "65536"],
                        "MALLOC_TRIM_THRESHOLD_": ["131072", "1073741824", "4294967296"],
                        "MALLOC_TOP_PAD_": ["131072", "67108864"]},
                       {"OPENBLAS_NUM_THREADS": str(cpus)}),  # glibc's own values are others where nothing is set: they grow
    }


def tuned(pitwall, part, folder, metric, seed):
    """What tune prints as JSON."""
    options = ["--format", "json", "-q", "--no-ledger", "--restart", "-o", str(folder), "--metric", metric, "--seed", str(seed)]
    for name, values in part.space.items():
        options += ["--param", f"{name}={','.join(values)}"]
    done = subprocess.run([pitwall, "tune", *options, "--", *part.command], env=part.environment({}), capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"tune ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def everything(part, pairs):
    """The combination with the best median of `pairs` runs of each, and the number of runs."""
    speeds = [(settings, []) for settings in part.combinations()]
    for _ in range(pairs):
        for settings, measured in random.sample(speeds, len(speeds)):
            measured.append(part.speed(settings))
    best = max(speeds, key=lambda entry: statistics.median(entry[1]))
    return best[0], pairs * len(speeds)


def ratio_of(part, ours, theirs, pairs):
    """How many times as fast `ours` is: the median over pairs in alternating order."""
    ratios = []
    for pair in range(pairs):
        speed = {}
        for name, settings in (("a", ours), ("b", theirs)) if pair % 2 == 0 else (("b", theirs), ("a", ours)):
            speed[name] = part.speed(settings)
        ratios.append(speed["a"] / speed["b"])
    return statistics.median(ratios)


def settings_of(text):
    """{"A": "1", "B": "2"} of "A=1 B=2"."""
    return dict(word.split("=", 1) for word in re.split(r"[ ,]+", text or "") if "=" in word)


def shown(settings):
    return " ".join(f"{name}={value}" for name, value in settings.items()) or "unchanged"


def compare(name, part, options, folder):
    result = tuned(options.pitwall, part, folder, "wall" if part.seconds_metric else METRIC, options.seed)
    ours = settings_of(result["best"])
    theirs, runs = everything(part, options.pairs)
    is_same = part.in_effect(ours) == part.in_effect(theirs)
    ratio = 1 if is_same else ratio_of(part, ours, theirs, PAIRS_BETWEEN)
    good = ratio >= NEEDED_RATIO and result["runs"] <= NEEDED_RUNS * runs
    compared = "these are the same settings" if is_same else f"tune's is {ratio:.3f} times as fast"
    print(f"{name}: tune {shown(ours)} in {result['runs']} runs; everything {shown(theirs)} in {runs} runs; "
          f"{compared} ({'good' if good else 'NOT GOOD'})", flush=True)
    return good


def sleep(options, folder):
    part = Part(["/bin/sleep", "0.1"], {}, {"OMP_NUM_THREADS": ["1", "2"], "MALLOC_ARENA_MAX": ["1", "4"]}, {})
    gains = [tuned(options.pitwall, part, folder, "wall", seed)["best"] for seed in range(1, options.repeats + 1)]
    false = [best for best in gains if best]
    print(f"sleep: {len(false)} of {len(gains)} searches call a setting a gain {false or ''}", flush=True)
    return len(false) <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--part", action="append", default=[], choices=["lenet", "executor", "python", "sleep"])
    parser.add_argument("--pairs", type=int, default=6, help="runs of each combination [6]")
    parser.add_argument("--repeats", type=int, default=20, help="searches of the part sleep [20]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    build = str(pathlib.Path(options.build).resolve())
    options.pitwall = f"{build}/bin/pitwall"
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="tune_") as folder:
        results = [compare(name, part, options, pathlib.Path(folder) / name) for name, part in parts(build).items()
                   if not options.part or name in options.part]
        if not options.part or "sleep" in options.part:
            results.append(sleep(options, pathlib.Path(folder) / "sleep"))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
