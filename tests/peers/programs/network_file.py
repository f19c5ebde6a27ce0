"""Reads a network that benchmark_score wrote as NAME-symbol.json, with the shape of everything: for the peers that do not read
MXNet's files."""

import ast
import json
import math


def extent(data, kernel, stride, pad, dilate, full):
    room = data + 2 * pad - (dilate * (kernel - 1) + 1)
    return (-(-room // stride) if full else room // stride) + 1


class Node:
    """An operator: op, name, attributes, inputs (names of tensors), weights (name, shape), data (shape of input 0), shape."""

    def __init__(self, op, name, attributes, inputs):
        self.op, self.name, self.attributes, self.inputs = op, name, attributes, inputs
        self.weights, self.data, self.shape = [], None, None

    def get(self, key, standard):
        text = self.attributes.get(key)
        if text is None:
            return standard
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text


def shapes_of(node, shapes):
    """The shape of the node's output, and those of its weights."""
    data = node.data = shapes[node.inputs[0]]
    weights = []
    if node.op in ("Convolution", "Pooling"):
        if node.op == "Pooling" and node.get("global_pool", False):
            return data[:2] + (1, 1), weights
        kernel, pad = node.get("kernel", None), node.get("pad", (0, 0))
        stride, dilate = node.get("stride", (1, 1)), node.get("dilate", (1, 1))
        full = node.get("pooling_convention", "valid") == "full"
        image = tuple(extent(data[i + 2], kernel[i], stride[i], pad[i], dilate[i], full) for i in range(2))
        if node.op == "Pooling":
            return data[:2] + image, weights
        channels = node.get("num_filter", None)
        weights.append((channels, data[1] // node.get("num_group", 1)) + tuple(kernel))
        if not node.get("no_bias", False):
            weights.append((channels,))
        return (data[0], channels) + image, weights
    if node.op == "FullyConnected":
        units = node.get("num_hidden", None)
        return (data[0], units), [(units, math.prod(data[1:])), (units,)]
    if node.op == "BatchNorm":
        return data, [(data[1],)] * 4
    if node.op == "Flatten":
        return (data[0], math.prod(data[1:])), weights
    if node.op == "Concat":
        return (data[0], sum(shapes[name][1] for name in node.inputs)) + data[2:], weights
    return data, weights


def read(path, data):
    """The operators, inputs before what uses them; `data` is the shape of the input "data"."""
    graph = json.load(open(path))
    names = [node["name"] for node in graph["nodes"]]
    shapes, nodes = {"data": data}, []
    for about in graph["nodes"]:
        if about["op"] == "null":
            continue
        inputs = [names[entry[0]] for entry in about["inputs"]]
        if about["op"] == "SoftmaxOutput":
            inputs = inputs[:1]
        node = Node(about["op"], about["name"], about.get("attrs", {}), inputs)
        shapes[node.name], weights = shapes_of(node, shapes)
        node.shape = shapes[node.name]
        first = len(inputs) - len(weights)
        node.weights = list(zip(inputs[first:], weights))
        node.inputs = inputs[:first]
        nodes.append(node)
    return nodes
