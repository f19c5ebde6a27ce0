#!/usr/bin/env python3
"""Inference of the documents' networks, ours and peers', in turns: a Markdown table for docs/benchmarks.md.

    tests/peers/score.py [--samples build/release/bin/samples] [--venvs FOLDER] [--peers mxnet,onnxruntime,torch] [--rounds 3]
                         [--seconds 3] [--batches 1,32] [NETWORK...]

All run the same operators, which benchmark_score writes as a file of MXNet: MXNet 1.9.1 reads it and fuses it for oneDNN, ONNX Runtime
gets it as an ONNX model, PyTorch traces and freezes it; each with a thread per processor. Medians of the rounds, and after each
peer's the ratio of ours to it in each round. Needs an idle machine. A peer without an environment in FOLDER is left out;
tests/peers/run.sh makes them.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# The program of each, and its name in the table.
PEERS = {"mxnet": ("mxnet_score.py", "MXNet 1.9.1"), "onnxruntime": ("onnx_score.py", "ONNX Runtime"),
         "torch": ("torch_score.py", "PyTorch")}
NETWORKS = ["alexnet", "vgg-16", "inception-bn", "inception-v3", "resnet-50", "resnet-152"]


def output_of(command):
    threads = str(os.cpu_count())  # MXNet takes half of them where nothing is set
    out = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": threads})
    if out.returncode != 0:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(map(str, command)), out.returncode, out.stderr))
    return out.stdout


def measured(given, peers, network, batch, folder):
    """Images per second of each round: "ours", and by peer."""
    row = {name: [] for name in ["ours", *peers]}
    size = "299" if network == "inception-v3" else "224"
    for _ in range(given.rounds):
        lines = output_of([given.samples / "benchmark_score", "--network", network, "--batch-size", batch, "--seconds",
                           str(given.seconds), "--format", "csv", "--write", folder]).splitlines()
        row["ours"].append(float(lines[1].split(",")[2]))
        for name in peers:
            out = output_of([given.venvs / name / "bin/python", HERE / "programs" / PEERS[name][0],
                             folder + "/" + network + "-symbol.json", batch, size, str(given.seconds)])
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
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    peers = [name for name in given.peers.split(",") if (given.venvs / name / "bin/python").exists()]
    print("load before: %.2f %.2f %.2f, %d CPUs\n" % (*os.getloadavg(), os.cpu_count()))
    columns = "".join(" %s | ratio |" % PEERS[name][1] for name in peers)
    print("| images/s | batch | Pitwall |%s\n|---|---|---|%s" % (columns, "---|" * 2 * len(peers)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            for batch in given.batches.split(","):
                row = measured(given, peers, network, batch, folder)
                print("| %s | %s | %.1f |%s" % (network, batch, statistics.median(row["ours"]), "".join(
                    " %.1f | %s |" % (statistics.median(row[name]), ratio(row["ours"], row[name])) for name in peers)), flush=True)
    print("\nload after: %.2f %.2f %.2f" % os.getloadavg())


main()
