"""torch_train_speed.py SYMBOL.json BATCH SIZE BATCHES: images per second of PyTorch training the graph with SGD, synthetic data.

Images and weights are stored with channels last, which is PyTorch's faster layout on processors. The first two batches are not
counted. Called by tests/peers/train.py.
"""

import os
import sys
import time

import network_file
import torch
from torch.nn import functional as F
from torch_network import Network

path, batch, size, batches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(os.cpu_count())
torch.manual_seed(1)
data = torch.rand(batch, 3, size, size).to(memory_format=torch.channels_last)
labels = torch.zeros(batch, dtype=torch.long)
network = Network(network_file.read(path, tuple(data.shape))).to(memory_format=torch.channels_last).train()
trained = [weight.requires_grad_() for weight, name in zip(network.weights, network.names) if not name.endswith(("_mean", "_var"))]
optimizer = torch.optim.SGD(trained, lr=1e-4, momentum=0.9, weight_decay=1e-4)


def step():
    optimizer.zero_grad()
    F.cross_entropy(network(data), labels).backward()
    optimizer.step()


for _ in range(2):
    step()
began = time.perf_counter()
for _ in range(batches):
    step()
print("images/s: %f" % (batches * batch / (time.perf_counter() - began)))
