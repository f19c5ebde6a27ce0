"""torch_score.py SYMBOL.json BATCH SIZE SECONDS: images per second of inference with PyTorch, of the same operators, traced and
frozen."""

import os
import sys
import time

import network_file
import torch
from torch_network import Network


def main():
    path, batch, size, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(os.cpu_count())
    data = torch.rand(batch, 3, size, size)
    with torch.no_grad():
        network = torch.jit.optimize_for_inference(torch.jit.trace(Network(network_file.read(path, tuple(data.shape))).eval(), data))
        for _ in range(3):
            network(data)
        passes, began = 0, time.perf_counter()
        while passes < 3 or time.perf_counter() - began < seconds:
            network(data)
            passes += 1
    print("images/s: %.3f" % (batch * passes / (time.perf_counter() - began)))


main()
