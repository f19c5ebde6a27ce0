#!/usr/bin/env python3
"""Inference of the documents' networks, ours and MXNet 1.9.1's, in turns: a Markdown table for docs/benchmarks.md.

    tests/peers/score.py [--samples build/release/bin/samples] [--venvs FOLDER] [--rounds 3] [--seconds 3] [--batches 1,32] [NETWORK...]

Both run the same graph: benchmark_score writes it, MXNet reads it and fuses it for oneDNN; both with a thread per processor.
Medians of the rounds, and the ratio of each round's pair. Needs an idle machine; tests/peers/run.sh makes MXNet's environment.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ["alexnet", "vgg-16", "inception-bn", "inception-v3", "resnet-50", "resnet-152"]


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
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    print("| images/s | batch | Pitwall | MXNet 1.9.1 | ratio |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            for batch in given.batches.split(","):
                ours, theirs = [], []
                for _ in range(given.rounds):
                    row = output_of([given.samples / "benchmark_score", "--network", network, "--batch-size", batch, "--seconds",
                                     str(given.seconds), "--format", "csv", "--write", folder]).splitlines()[1]
                    ours.append(float(row.split(",")[2]))
                    size = "299" if network == "inception-v3" else "224"
                    out = output_of([given.venvs / "mxnet/bin/python", HERE / "programs/mxnet_score.py",
                                     folder + "/" + network + "-symbol.json", batch, size, str(given.seconds)])
                    theirs.append(float(out.split("images/s:")[1]))
                ratios = sorted(a / b for a, b in zip(ours, theirs))
                print("| %s | %s | %.1f | %.1f | %.2f (%.2f to %.2f) |" % (
                    network, batch, statistics.median(ours), statistics.median(theirs), statistics.median(ratios), ratios[0],
                    ratios[-1]), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
