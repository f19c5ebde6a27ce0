"""torch_score.py SYMBOL.json BATCH SIZE SECONDS: images per second of inference with PyTorch, of the same operators, traced and
frozen."""

import os
import sys
import time

import network_file
import torch
from torch.nn import functional as F


def pooled(node, x):
    kind = node.get("pool_type", "max")
    if node.get("global_pool", False):
        return F.adaptive_max_pool2d(x, 1) if kind == "max" else F.adaptive_avg_pool2d(x, 1)
    window = dict(kernel_size=node.get("kernel", None), stride=node.get("stride", (1, 1)), padding=node.get("pad", (0, 0)),
                  ceil_mode=node.get("pooling_convention", "valid") == "full")
    return F.max_pool2d(x, **window) if kind == "max" else F.avg_pool2d(x, count_include_pad=True, **window)


def computed(node, x, w):
    get = node.get
    if node.op == "Convolution":
        return F.conv2d(x[0], w[0], w[1] if len(w) > 1 else None, get("stride", (1, 1)), get("pad", (0, 0)), get("dilate", (1, 1)),
                        get("num_group", 1))
    if node.op == "BatchNorm":
        return F.batch_norm(x[0], w[2], w[3], w[0], w[1], eps=float(get("eps", 1e-3)))
    if node.op == "FullyConnected":
        return F.linear(x[0].flatten(1), w[0], w[1])
    if node.op == "Activation":
        return F.relu(x[0])
    if node.op == "clip":
        return torch.clamp(x[0], float(get("a_min", 0)), float(get("a_max", 6)))
    if node.op == "LRN":
        return F.local_response_norm(x[0], get("nsize", None), float(get("alpha", 1e-4)), float(get("beta", 0.75)), float(get("knorm", 2)))
    if node.op == "Pooling":
        return pooled(node, x[0])
    if node.op == "Concat":
        return torch.cat(x, 1)
    if node.op == "elemwise_add":
        return x[0] + x[1]
    if node.op == "SoftmaxOutput":
        return F.softmax(x[0], 1)
    if node.op == "Flatten":
        return x[0].flatten(1)
    assert node.op in ("_copy", "Dropout"), node.op
    return x[0]


class Network(torch.nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes, self.weights = nodes, torch.nn.ParameterList()
        for node in nodes:
            for name, shape in node.weights:
                self.weights.append(torch.nn.Parameter(torch.rand(shape) * (1 if name.endswith("_var") else 0.05), requires_grad=False))

    def forward(self, data):
        values, weights = {"data": data}, iter(self.weights)
        for node in self.nodes:
            x = [values[name] for name in node.inputs]
            values[node.name] = computed(node, x, [next(weights) for _ in node.weights])
        return values[self.nodes[-1].name]


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
