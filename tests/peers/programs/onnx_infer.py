"""Inference of a small convolutional network with ONNX Runtime, as a user writes it; prints the seconds of a run."""

import sys
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def make_model():
    random = np.random.default_rng(0)

    def weight(name, *shape):
        return numpy_helper.from_array((random.standard_normal(shape) * 0.1).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["image", "w1"], ["c1"], name="stem", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="stem_relu"),
        helper.make_node("MaxPool", ["r1"], ["p1"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2"], ["c2"], name="body", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["c2"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["scores"], name="classify"),
    ]
    weights = [weight("w1", 32, 3, 3, 3), weight("w2", 64, 32, 3, 3), weight("w3", 64, 10), weight("b3", 10)]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [8, 3, 64, 64])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [8, 10])
    graph = helper.make_graph(nodes, "small", [image], [scores], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def prepare(pixels):
    """The program's own part: as slow as such code is."""
    images = np.empty((8, 3, 64, 64), np.float32)
    for i in range(8):
        for channel in range(3):
            images[i, channel] = (pixels[i, :, :, channel] - 127.5) / (1.0 + pixels[i, :, :, channel].std())
    return images


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    session = onnxruntime.InferenceSession(make_model(), providers=["CPUExecutionProvider"])
    pixels = np.random.default_rng(1).integers(0, 255, (8, 64, 64, 3)).astype(np.float32)
    best = np.zeros(8, int)
    session.run(None, {"image": prepare(pixels)})
    print("first step done", flush=True)
    began = time.perf_counter()
    for _ in range(runs):
        best += session.run(None, {"image": prepare(pixels)})[0].argmax(axis=1)
    print("seconds a step: %.9f" % ((time.perf_counter() - began) / runs), flush=True)


main()
