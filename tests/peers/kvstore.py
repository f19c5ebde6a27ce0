#!/usr/bin/env python3
"""kvstore.py KVSTORE_BENCH PYTHON [--workers N] [--pairs N] [--local]: the store dist_sync beside MXNet's on the same machine, in turns; with
--local the store local over 4 devices of the CPU.

PYTHON has MXNet 1.9.1 (tests/peers/run.sh makes such an environment). MXNet's job has a scheduler and as many servers as is fastest of
1, 2 and the number of workers, on the loopback interface.
"""

import argparse
import os
import pathlib
import re
import socket
import statistics
import subprocess

PROGRAMS = pathlib.Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "mxnet_kvstore.py"
LIMIT_S = 600


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def mxnet_times(python, workers, servers):
    """Microseconds by (arrays, elements)."""
    given = os.environ | {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(free_port()), "DMLC_NUM_WORKER": str(workers),
                          "DMLC_NUM_SERVER": str(servers), "OMP_NUM_THREADS": "1"}
    processes = []
    for role, number in (("scheduler", 1), ("server", servers), ("worker", workers)):
        for _ in range(number):
            processes.append(subprocess.Popen([python, PROGRAM], env=given | {"DMLC_ROLE": role}, stdout=subprocess.PIPE,
                                              stderr=subprocess.DEVNULL, text=True))
    try:
        printed = "".join(process.communicate(timeout=LIMIT_S)[0] for process in processes)
    finally:
        for process in processes:
            process.kill()
    return {(int(count), int(elements)): float(us) for count, elements, us in (line.split() for line in printed.splitlines())}


def own_times(bench, workers):
    """Those of dist_sync, and those of MPI_Allreduce() beside it."""
    run = subprocess.run(["mpirun", "-n", str(workers), "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", bench], check=True,
                         capture_output=True, text=True, timeout=LIMIT_S)
    found = re.findall(r"^dist_sync, .*?(\d+) arrays of +([\d.]+) KB: +([\d.]+) us; MPI_Allreduce\(\) +([\d.]+) us", run.stdout, re.M)
    own, direct = {}, {}
    for count, kilobytes, us, direct_us in found:
        size = int(count), round(float(kilobytes) * 1e3 / 4 / 2**14) * 2**14
        own[size], direct[size] = float(us), float(direct_us)
    return own, direct


def compare_local(bench, python, pairs):
    def mxnet():
        run = subprocess.run([python, PROGRAMS / "mxnet_local_kvstore.py"], check=True, capture_output=True, text=True, timeout=LIMIT_S)
        return [float(line.split()[1]) for line in run.stdout.splitlines()]

    def own():
        run = subprocess.run([bench], check=True, capture_output=True, text=True, timeout=LIMIT_S)
        return re.findall(r"^local, +([\d.]+) MB: sum of 4 +([\d.]+) us", run.stdout, re.M)

    runs = [(mxnet(), own()) for _ in range(pairs)]
    for at, (megabytes, _) in enumerate(runs[0][1]):
        theirs, ours = [run[0][at] for run in runs], [float(run[1][at][1]) for run in runs]
        ratios = [a / b for a, b in zip(theirs, ours)]
        print(f"{megabytes:>6} MB: MXNet {statistics.median(theirs):9.1f} us, Pitwall {statistics.median(ours):9.1f} us: "
              f"{statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bench")
    parser.add_argument("python")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--local", action="store_true")
    given = parser.parse_args()
    if given.local:
        compare_local(given.bench, given.python, given.pairs)
        return
    trials = {servers: mxnet_times(given.python, given.workers, servers) for servers in sorted({1, 2, given.workers})}
    servers = min(trials, key=lambda number: statistics.geometric_mean(trials[number].values()))
    print(f"MXNet with {servers} server(s): the fastest of {sorted(trials)}")
    runs = []
    for _ in range(given.pairs):
        runs.append((mxnet_times(given.python, given.workers, servers), *own_times(given.bench, given.workers)))
    for size in runs[0][0]:
        mxnet, own, direct = (statistics.median(run[which][size] for run in runs) for which in range(3))
        ratio = statistics.median(run[0][size] / run[1][size] for run in runs)
        to_mpi = statistics.median(run[2][size] / run[1][size] for run in runs)
        print(f"{size[0]:3} arrays of {size[1] * 4e-3:8.1f} KB: MXNet {mxnet:9.1f} us, Pitwall {own:9.1f} us: {ratio:.2f} x; "
              f"MPI_Allreduce() {direct:9.1f} us: {to_mpi:.2f} x")


if __name__ == "__main__":
    main()
