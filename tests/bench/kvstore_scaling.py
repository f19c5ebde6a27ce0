#!/usr/bin/env python3
"""kvstore_scaling.py BANDWIDTH LAUNCH [--batches N]: what sums between workers take, by a model of latency and bandwidth.

First the model is checked on this machine: samples/bandwidth runs with 2, 4 and 8 processes, which share its processors; what a step and a
byte take is fitted to 2 and 4 processes, and 8 are predicted. Then it says how training scales to 1024 workers on separate machines, for
links whose latency and bandwidth are given, not measured.
"""

import argparse
import math
import os
import re
import statistics
import subprocess

LIMIT_S = 300
BUCKET_BYTES = 4194304  # PITWALL_KVSTORE_BUCKET_BYTES: smaller arrays are exchanged together
NETWORKS = {"resnet-50": ["resnet", "--num-layers", "50"], "resnet-152": ["resnet", "--num-layers", "152"], "inception-v3": ["inception-v3", "--image-shape", "3,299,299"],
            "alexnet": ["alexnet"], "vgg-16": ["vgg-16"]}
COUNTS = (2, 4, 8)
FITTED = COUNTS[:2]
WORKERS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LINKS = {"10 Gbit/s, 30 us": (30e-6, 10e9 / 8), "100 Gbit/s, 5 us": (5e-6, 100e9 / 8)}  # seconds a message, bytes a second
BATCH = 32
BACKWARD = 2 / 3  # of a training step: it computes two products for each of the forward pass

# How a kind of store moves the gradients of n workers. bytes: that a rank handles for each byte of its gradients. steps: that follow each
# other in an exchange, where `busy` processes share a processor; a step for which all ranks wait takes as many times longer.
KINDS = {
    # In shared memory a rank reads and writes its array, adds its part of all, and reads and writes the sum; all wait for all.
    "dist_sync": {"run": ["dist_sync"], "setting": "1", "bytes": lambda n: (5 + 1 / n) / 5, "steps": lambda n, busy: busy * math.log2(n)},
    # A ring: n - 1 steps that add and n - 1 that hand on, each a part of 1 / n; other exchanges go on meanwhile.
    "dist_sync by messages": {"run": ["dist_sync"], "setting": "0", "bytes": lambda n: 2 * (n - 1) / n, "steps": lambda n, busy: 2 * (n - 1)},
    # To as many servers as workers and back.
    "dist_async": {"run": ["dist_async", "--optimizer", "sgd"], "setting": "1", "bytes": lambda n: 2, "steps": lambda n, busy: 2 * busy},
}


def measure(given, network, kind, workers):
    """Seconds a batch, number of arrays, bytes."""
    servers = ["-s", str(workers)] if kind == "dist_async" else []
    command = [given.launch, "-n", str(workers), *servers, "--", given.bandwidth, "--network", *NETWORKS[network], "--devices", "1",
               "--num-batches", str(given.batches), "--disp-batches", "1", "--test-results", "0", "--kv-store", *KINDS[kind]["run"]]
    setting = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "PITWALL_KVSTORE_SHARED_MEMORY": KINDS[kind]["setting"]}
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S, env=os.environ | setting)
    arrays, megabytes = re.search(r"num of arrays = (\d+), total size = ([\d.]+) MB", run.stdout).groups()
    times = [float(seconds) for seconds in re.findall(r"^iter \d+, ([\d.]+) sec", run.stdout, re.M)]
    return statistics.median(times), int(arrays), float(megabytes) * 1e6


def exchanges(arrays, size):
    """Least number of exchanges of so many arrays."""
    return min(arrays, max(1, round(size / BUCKET_BYTES)))


def fit(points):
    """Seconds an exchange's step and a byte, both at least 0, with the least sum of squared relative errors."""
    rows = [(steps / seconds, moved / seconds) for steps, moved, seconds in points]
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(r[i] for r in rows) for i in (0, 1))
    det = aa * bb - ab * ab
    step, byte = ((a * bb - b * ab) / det, (b * aa - a * ab) / det) if det > 0 else (0, b / bb)
    if step < 0:
        return 0.0, b / bb
    return (step, byte) if byte >= 0 else (a / aa, 0.0)


def check(given, kind):
    """Prints the model beside what was measured; gives the facts of the networks and the seconds a byte takes a rank in its own memory."""
    model = KINDS[kind]
    processors = len(os.sched_getaffinity(0))
    busy = lambda n: max(1, n * (2 if kind == "dist_async" else 1) / processors)  # processes for each processor
    measured = {(network, n): measure(given, network, kind, n) for network in NETWORKS for n in COUNTS}
    amounts = lambda network, n: (model["steps"](n, busy(n)) * exchanges(*measured[network, n][1:]),
                                  busy(n) * model["bytes"](n) * measured[network, n][2])
    step, byte = fit([(*amounts(network, n), measured[network, n][0]) for network in NETWORKS for n in FITTED])
    print(f"\n{kind}: {step * 1e6:.0f} us a step, {byte * 1e9:.2f} ns a byte, fitted to {FITTED[0]} and {FITTED[1]} processes")
    print("| network | " + " | ".join(f"{n}: measured, model" for n in COUNTS) + " |\n|---|" + "---|" * len(COUNTS))
    ratios = []
    for network in NETWORKS:
        cells = []
        for n in COUNTS:
            steps, moved = amounts(network, n)
            predicted, seconds = step * steps + byte * moved, measured[network, n][0]
            cells.append(f"{seconds * 1e3:.0f} ms, {predicted * 1e3:.0f} ms")
        ratios.append(predicted / seconds)
        print(f"| {network} | " + " | ".join(cells) + " |", flush=True)
    print(f"{COUNTS[-1]} processes, predicted: {min(ratios):.2f} to {max(ratios):.2f} of what was measured", flush=True)
    return {network: measured[network, COUNTS[0]][1:] for network in NETWORKS}, byte


def computation(given, network):
    """Seconds of a training step of BATCH images on this machine, by a step of 8."""
    images = 8
    run = subprocess.run([given.bandwidth, "--network", *NETWORKS[network], "--devices", "1", "--kv-store", "local", "--num-batches", "1",
                          "--test-results", "0", "--compute-batch", str(images)], check=True, capture_output=True, text=True, timeout=LIMIT_S)
    return float(re.search(r"computation ([\d.]+) sec", run.stdout)[1]) * BATCH / images


def scaled(kind, facts, seconds, link, n, byte):
    """Of n times a worker's speed alone, the share that is left."""
    arrays, size = facts
    latency, bandwidth = link
    count = exchanges(arrays, size)
    moves = KINDS["dist_sync by messages" if kind == "dist_sync" else kind]  # between machines there is no shared memory
    total = count * moves["steps"](n, 1) * latency + moves["bytes"](n) * size * (1 / bandwidth + byte)
    exposed = max(total / count, total - BACKWARD * seconds)  # the first layer's gradients are the last that are ready
    return seconds / (seconds + exposed)


def table(title, rows, links, byte):
    """rows: (what, facts, seconds of a step)."""
    print(f"\n{title}\n| network | store | link | " + " | ".join(map(str, WORKERS)) + " |\n|---|---|---|" + "---|" * len(WORKERS))
    for what, facts, seconds in rows:
        for kind in ("dist_sync", "dist_async"):
            for name in links:
                shares = (scaled(kind, facts, seconds, LINKS[name], n, byte) for n in WORKERS)
                print(f"| {what} | {kind} | {name} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bandwidth")
    parser.add_argument("launch")
    parser.add_argument("--batches", type=int, default=7)
    parser.add_argument("--images-per-second", type=float, help="also resnet-50 on a worker that trains as fast")
    given = parser.parse_args()
    facts, byte = {}, 0
    for kind in KINDS:
        facts, of_kind = check(given, kind)
        if kind == "dist_sync by messages":
            byte = of_kind
    table(f"Workers like this machine, {BATCH} images each: percent of as many times the speed of one",
          [(network, facts[network], computation(given, network)) for network in NETWORKS], list(LINKS)[:1], byte)
    if given.images_per_second:
        table(f"Workers that train resnet-50 with {given.images_per_second:.0f} images a second, {BATCH} images each, by what links take alone",
              [("resnet-50", facts["resnet-50"], BATCH / given.images_per_second)], LINKS, 0)


if __name__ == "__main__":
    main()
