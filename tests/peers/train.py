#!/usr/bin/env python3
"""Training steps of the documents' networks, ours and peers', in turns: a Markdown table for docs/benchmarks.md.

    tests/peers/train.py [--samples build/release/bin/samples] [--venvs FOLDER] [--peers mxnet,torch] [--rounds 3] [--batches 8]
                         [--batch-size 16] [NETWORK...]

All train the same graph with SGD and momentum on synthetic images: train_imagenet writes it, MXNet and a module of PyTorch read it;
each with a thread per processor; the first two batches are not counted. Medians of the rounds, and after each peer's the ratio of ours to
it in each round. Needs an idle machine. A peer without an environment in FOLDER is left out; tests/peers/run.sh makes them.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# The program of each, and its name in the table.
PEERS = {"mxnet": ("mxnet_train_speed.py", "MXNet 1.9.1"), "torch": ("torch_train_speed.py", "PyTorch")}
NETWORKS = ["alexnet", "resnet-50", "inception-bn"]


def output_of(command):
    threads = str(os.cpu_count())  # MXNet takes half of them where nothing is set
    out = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": threads})
    if out.returncode != 0:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(map(str, command)), out.returncode, out.stderr))
    return out.stdout


def measured(given, peers, network, folder):
    """Images per second of each round: "ours", and by peer."""
    row = {name: [] for name in ["ours", *peers]}
    size = "299" if network == "inception-v3" else "224"
    for _ in range(given.rounds):
        out = output_of([given.samples / "train_imagenet", "--benchmark", "1", "--network", network, "--batch-size",
                         str(given.batch_size), "--num-batches", str(given.batches + 2), "--disp-batches", "2", "--write", folder])
        speeds = [float(speed) for speed in re.findall(r"Speed: ([0-9.]+) samples/sec", out)][1:]
        row["ours"].append(len(speeds) / sum(1 / speed for speed in speeds))
        for name in peers:
            out = output_of([given.venvs / name / "bin/python", HERE / "programs" / PEERS[name][0],
                             folder + "/" + network + "-symbol.json", str(given.batch_size), size, str(given.batches)])
            row[name].append(float(out.split("images/s:")[1]))
    return row


def ratio(ours, theirs):
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    return "%.2f (%.2f to %.2f)" % (statistics.median(ratios), ratios[0], ratios[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=pathlib.Path, default=HERE.parent.parent / "build/release/bin/samples")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path.home() / ".cache/pitwall-peers")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    peers = [name for name in given.peers.split(",") if (given.venvs / name / "bin/python").exists()]
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    columns = "".join(" %s | ratio |" % PEERS[name][1] for name in peers)
    print("| images/s of training | batch | Pitwall |%s\n|---|---|---|%s" % (columns, "---|" * 2 * len(peers)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            row = measured(given, peers, network, folder)
            print("| %s | %d | %.2f |%s" % (network, given.batch_size, statistics.median(row["ours"]), "".join(
                " %.2f | %s |" % (statistics.median(row[name]), ratio(row["ours"], row[name])) for name in peers)), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
