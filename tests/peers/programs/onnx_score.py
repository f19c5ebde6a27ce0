"""onnx_score.py SYMBOL.json BATCH SIZE SECONDS: images per second of inference with ONNX Runtime, of the same operators."""

import os
import sys
import time

import network_file
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SAME = {"_copy": "Identity", "Dropout": "Identity", "Flatten": "Flatten", "elemwise_add": "Add", "Concat": "Concat"}


def operator(node):
    """The ONNX operator and its attributes."""
    twice = lambda pair: list(pair) * 2
    get = node.get
    if node.op == "Convolution":
        return "Conv", dict(kernel_shape=list(get("kernel", None)), strides=list(get("stride", (1, 1))), pads=twice(get("pad", (0, 0))),
                            dilations=list(get("dilate", (1, 1))), group=get("num_group", 1))
    if node.op == "BatchNorm":
        return "BatchNormalization", dict(epsilon=float(get("eps", 1e-3)))
    if node.op == "FullyConnected":
        return "Gemm", dict(transB=1)
    if node.op == "Activation":
        return "Relu", {}
    if node.op == "LRN":
        return "LRN", dict(size=get("nsize", None), alpha=float(get("alpha", 1e-4)), beta=float(get("beta", 0.75)), bias=float(get("knorm", 2)))
    if node.op == "SoftmaxOutput":
        return "Softmax", dict(axis=1)
    if node.op == "Pooling":
        kind = {"max": "MaxPool", "avg": "AveragePool"}[get("pool_type", "max")]
        if get("global_pool", False):
            return "Global" + kind, {}
        more = dict(count_include_pad=1) if kind == "AveragePool" else {}
        return kind, dict(kernel_shape=list(get("kernel", None)), strides=list(get("stride", (1, 1))), pads=twice(get("pad", (0, 0))),
                          ceil_mode=int(get("pooling_convention", "valid") == "full"), **more)
    return SAME[node.op], dict(axis=1) if node.op == "Concat" else {}


def model(nodes, data):
    random = np.random.default_rng(0)
    made, weights = [], []
    for node in nodes:
        inputs = list(node.inputs)
        for name, shape in node.weights:
            scale = 1 if name.endswith("_var") else 0.05
            weights.append(numpy_helper.from_array((random.random(shape) * scale).astype(np.float32), name))
            inputs.append(name)
        if node.op == "clip":
            for key in ("a_min", "a_max"):
                weights.append(numpy_helper.from_array(np.float32(node.get(key, 0)), node.name + key))
                inputs.append(node.name + key)
            made.append(helper.make_node("Clip", inputs, [node.name], name=node.name))
            continue
        if node.op == "FullyConnected" and len(node.data) > 2:
            made.append(helper.make_node("Flatten", inputs[:1], [node.name + "_flat"]))
            inputs[0] = node.name + "_flat"
        op, attributes = operator(node)
        made.append(helper.make_node(op, inputs, [node.name], name=node.name, **attributes))
    image = helper.make_tensor_value_info("data", TensorProto.FLOAT, list(data))
    last = helper.make_tensor_value_info(nodes[-1].name, TensorProto.FLOAT, list(nodes[-1].shape))
    graph = helper.make_graph(made, "network", [image], [last], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def main():
    path, batch, size, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    data = (batch, 3, size, size)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    session = onnxruntime.InferenceSession(model(network_file.read(path, data), data), options, providers=["CPUExecutionProvider"])
    images = np.random.default_rng(1).random(data, np.float32)
    for _ in range(3):
        session.run(None, {"data": images})
    passes, began = 0, time.perf_counter()
    while passes < 3 or time.perf_counter() - began < seconds:
        session.run(None, {"data": images})
        passes += 1
    print("images/s: %.3f" % (batch * passes / (time.perf_counter() - began)))


main()
