#!/usr/bin/env python3
"""Training steps of the documents' networks, ours and MXNet 1.9.1's, in turns: a Markdown table for docs/benchmarks.md.

    tests/peers/train.py [--samples build/release/bin/samples] [--venvs FOLDER] [--rounds 3] [--batches 8] [--batch-size 16] [NETWORK...]

Both train the same graph with SGD and momentum on synthetic images: train_imagenet writes it, MXNet reads it; both with a thread
per processor; the first two batches are not counted. Medians of the rounds, and the ratio of each round's pair. Needs an idle
machine; tests/peers/run.sh makes MXNet's environment.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ["alexnet", "resnet-50", "inception-bn"]


def output_of(command):
    threads = str(os.cpu_count())  # MXNet takes half of them where nothing is set
    out = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": threads})
    if out.returncode != 0:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(map(str, command)), out.returncode, out.stderr))
    return out.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=pathlib.Path, default=HERE.parent.parent / "build/release/bin/samples")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path.home() / ".cache/pitwall-peers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    print("| images/s of training | batch | Pitwall | MXNet 1.9.1 | ratio |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            ours, theirs = [], []
            for _ in range(given.rounds):
                out = output_of([given.samples / "train_imagenet", "--benchmark", "1", "--network", network, "--batch-size",
                                 str(given.batch_size), "--num-batches", str(given.batches + 2), "--disp-batches", "2", "--write", folder])
                speeds = [float(speed) for speed in re.findall(r"Speed: ([0-9.]+) samples/sec", out)][1:]
                ours.append(len(speeds) / sum(1 / speed for speed in speeds))
                size = "299" if network == "inception-v3" else "224"
                out = output_of([given.venvs / "mxnet/bin/python", HERE / "programs/mxnet_train_speed.py",
                                 folder + "/" + network + "-symbol.json", str(given.batch_size), size, str(given.batches)])
                theirs.append(float(out.split("images/s:")[1]))
            ratios = sorted(a / b for a, b in zip(ours, theirs))
            print("| %s | %d | %.2f | %.2f | %.2f (%.2f to %.2f) |" % (
                network, given.batch_size, statistics.median(ours), statistics.median(theirs), statistics.median(ratios), ratios[0],
                ratios[-1]), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
