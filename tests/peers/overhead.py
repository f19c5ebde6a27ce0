#!/usr/bin/env python3
"""How much longer unchanged programs take under `pitwall record`: a Markdown table for docs/benchmarks.md.

    tests/peers/overhead.py [--bin build/release/bin] [--venvs FOLDER] [--pairs 10] [--scale 1] [PROGRAM...]

Of each program a step's time alone, sampled (--framework none) and with the framework's operators, in turns, and the ratios
of each turn: median with the interval that holds it in 95 of 100 such measurements (order statistics). Needs an idle machine;
the programs' environments are made by tests/peers/run.sh. Prints the load before and after.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS = {"numpy": 3000, "torch1": 300, "torch": 300, "onnxruntime": 1500, "mxnet": 300, "jax": 3000}
FILES = {"numpy": "numpy_train", "torch1": "torch_train", "torch": "torch_train", "onnxruntime": "onnx_infer",
         "mxnet": "mxnet_train", "jax": "jax_train"}


def python_of(name, venvs):
    return "/usr/bin/python3" if name in ("numpy", "torch1") else str(venvs / name / "bin/python")


def step_seconds(command):
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), out.returncode, out.stderr))
    return float(out.stdout.split("seconds a step:")[1].split()[0])


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
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--scale", type=float, default=1, help="of the number of steps")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    print("| program | a step alone | sampled | with operators |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.programs or STEPS:
            if not os.path.exists(python_of(name, given.venvs)):
                print("| %s | not installed | | |" % name)
                continue
            program = [python_of(name, given.venvs), str(HERE / "programs" / (FILES[name] + ".py")),
                       str(max(1, int(STEPS[name] * given.scale)))]
            record = [str(given.bin / "pitwall"), "record", "-q", "-o", os.path.join(folder, "run.pitwall")]
            ways = [program, record + ["--framework", "none", "--"] + program, record + ["--"] + program]
            for way in ways:  # warm: files in the page cache, bytecode compiled
                step_seconds(way)
            times = [[], [], []]
            for pair in range(given.pairs):
                order = [(pair + k) % 3 for k in range(3)]  # no way runs twice in a row
                for way in order:
                    times[way].append(step_seconds(ways[way]))
            cells = ["%.3f ms" % (statistics.median(times[0]) * 1e3)]
            for way in (1, 2):
                ratios = [with_it / alone - 1 for with_it, alone in zip(times[way], times[0])]
                low, high = interval(ratios)
                cells.append("%+.1f %% (%+.1f to %+.1f)" % (100 * statistics.median(ratios), 100 * low, 100 * high))
            print("| %s | %s |" % (name, " | ".join(cells)), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
