#!/usr/bin/env python3
"""Memory that is planned for the intermediate results of the documents' networks, ours and MXNet 1.9.1's: a Markdown table for docs/benchmarks.md.

    tests/peers/memory.py [--samples build/release/bin/samples] [--venvs FOLDER] [--batch-size 8] [--mirror] [NETWORK...]

Both plan the same graph: train_imagenet writes it, MXNet reads it and reports whole MB of 2^20 bytes. --mirror adds training in which
cheap results are computed again, and its time beside that without (which needs an idle machine). tests/peers/run.sh makes MXNet's environment.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ["alexnet", "vgg-16", "inception-bn", "inception-v3", "resnet-50", "resnet-152"]


def output_of(command, **settings):
    out = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=os.environ | settings)
    if out.returncode != 0:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(map(str, command)), out.returncode, out.stderr))
    return out.stdout


class Ours:
    def __init__(self, samples, batch):
        self.samples, self.batch = samples, str(batch)

    def inference(self, network):
        rows = output_of([self.samples / "benchmark_score", "--network", network, "--batch-size", self.batch, "--seconds", "0.01",
                          "--format", "csv"]).splitlines()
        return float(dict(zip(rows[0].split(","), rows[1].split(",")))["planned_bytes"]) / 2**20

    def training(self, network, folder, batches=1, **settings):
        """MiB, and seconds of a step."""
        out = output_of([self.samples / "train_imagenet", "--benchmark", "1", "--network", network, "--batch-size", self.batch,
                         "--num-batches", str(batches), "--disp-batches", "1", "--write", folder], **settings)
        speeds = [float(speed) for speed in re.findall(r"Speed: ([0-9.]+) samples/sec", out)]
        return float(re.search(r"intermediate results: ([0-9.]+) MiB", out).group(1)), int(self.batch) / max(speeds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=pathlib.Path, default=HERE.parent.parent / "build/release/bin/samples")
    parser.add_argument("--venvs", type=pathlib.Path, default=pathlib.Path.home() / ".cache/pitwall-peers")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--mirror", action="store_true")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    ours = Ours(given.samples, given.batch_size)
    print("| planned MiB, batch %d | inference: Pitwall | MXNet 1.9.1 | ratio | training: Pitwall | MXNet 1.9.1 | ratio |%s" %
          (given.batch_size, " with mirror | ratio | time |" if given.mirror else ""))
    print("|---|---|---|---|---|---|---|" + ("---|---|---|" if given.mirror else ""), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            trained, _ = ours.training(network, folder)
            row = [network]
            for kind, here in (("inference", ours.inference(network)), ("training", trained)):
                size = "299" if network == "inception-v3" else "224"
                out = output_of([given.venvs / "mxnet/bin/python", HERE / "programs/mxnet_planned_memory.py",
                                 folder + "/" + network + "-symbol.json", given.batch_size, size, kind])
                there = int(out.split("planned MB:")[1])
                row += ["%.1f" % here, "%d" % there, "%.2f" % (here / max(there, 1))]
            if given.mirror:
                times, size = [], 0
                for _ in range(3):
                    plain = ours.training(network, folder, 3)[1]
                    size, seconds = ours.training(network, folder, 3, MXNET_BACKWARD_DO_MIRROR="1")
                    times.append(seconds / plain)
                row += ["%.1f" % size, "%.2f" % (size / trained), "%.2f" % statistics.median(times)]
            print("| " + " | ".join(row) + " |", flush=True)


main()
