"""The operators of a network_file as a PyTorch module."""

import torch
from torch.nn import functional as F


def pooled(node, x):
    kind = node.get("pool_type", "max")
    if node.get("global_pool", False):
        return F.adaptive_max_pool2d(x, 1) if kind == "max" else F.adaptive_avg_pool2d(x, 1)
    window = dict(kernel_size=node.get("kernel", None), stride=node.get("stride", (1, 1)), padding=node.get("pad", (0, 0)),
                  ceil_mode=node.get("pooling_convention", "valid") == "full")
    return F.max_pool2d(x, **window) if kind == "max" else F.avg_pool2d(x, count_include_pad=True, **window)


def computed(node, x, w, training):
    get = node.get
    if node.op == "Convolution":
        return F.conv2d(x[0], w[0], w[1] if len(w) > 1 else None, get("stride", (1, 1)), get("pad", (0, 0)), get("dilate", (1, 1)),
                        get("num_group", 1))
    if node.op == "BatchNorm":
        return F.batch_norm(x[0], w[2], w[3], w[0], w[1], training, 0.1, float(get("eps", 1e-3)))
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
        return x[0] if training else F.softmax(x[0], 1)  # then the loss takes it
    if node.op == "Flatten":
        return x[0].flatten(1)
    if node.op == "Dropout":
        return F.dropout(x[0], float(get("p", 0.5)), training)
    assert node.op == "_copy", node.op
    return x[0]


class Network(torch.nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes, self.weights, self.names = nodes, torch.nn.ParameterList(), []
        for node in nodes:
            for name, shape in node.weights:
                self.names.append(name)
                self.weights.append(torch.nn.Parameter(torch.rand(shape) * (1 if name.endswith("_var") else 0.05), requires_grad=False))

    def forward(self, data):
        values, weights = {"data": data}, iter(self.weights)
        for node in self.nodes:
            x = [values[name] for name in node.inputs]
            values[node.name] = computed(node, x, [next(weights) for _ in node.weights], self.training)
        return values[self.nodes[-1].name]
