#!/usr/bin/env python3
"""mxnet_graph.py write FOLDER [--zoo] | check FOLDER | zoo FOLDER: networks that MXNet 1.9.1 itself writes, and its check of ours.

Not part of CI: needs MXNet 1.9.1 (pip install mxnet==1.9.1 'numpy<1.24').

write  small networks as NAME-symbol.json, their values as NAME-0000.params, what MXNet infers as NAME.shapes, and of most
       what it computes as NAME.forward or, of a training step, NAME.backward; with --zoo also the model zoo's. tests/runtime/graph/fixtures holds those without --zoo.
       Then: PITWALL_PEER_GRAPHS=FOLDER build/release/tests/graph_test --gtest_filter='PeerGraphs.*' reads them, compares, and
       writes them again in FOLDER/ours.
check  MXNet reads FOLDER/ours and finds the same arguments, shapes and values.
zoo    The networks of the model zoo that benchmark_score --network all --write FOLDER wrote have the zoo's arguments, states and
       shapes.
"""

import pathlib
import sys

import mxnet as mx
import numpy as np
from mxnet.gluon import nn
from mxnet.gluon.model_zoo import vision


def convolutional():
    """Module's way: symbols, with most of what image networks have."""
    s = mx.sym
    data = s.Variable("data")
    net = s.Convolution(data, kernel=(3, 3), num_filter=4, pad=(1, 1), name="conv0")
    net = s.BatchNorm(net, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn0")
    net = s.Activation(net, act_type="relu", name="relu0")
    a = s.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name="pool_a")
    b = s.Convolution(net, kernel=(2, 2), stride=(2, 2), num_filter=4, num_group=2, no_bias=True, name="conv_b")
    net = s.Concat(a, b, name="concat0")
    parts = s.SliceChannel(net, num_outputs=2, name="parts")
    net = parts[0] + parts[1] * 0.5
    net = s.LRN(net, nsize=3, name="lrn0")
    net = s.Deconvolution(net, kernel=(2, 2), stride=(2, 2), num_filter=3, name="up0")
    net = s.broadcast_mul(net, s.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool_g"), name="scaled")
    net = s.Dropout(s.Flatten(net, name="flat"), p=0.3, name="drop0")
    net = s.FullyConnected(net, num_hidden=5, name="fc0")
    return s.SoftmaxOutput(net, name="softmax"), {"data": (2, 3, 9, 9)}


def residual():
    """What image networks train: a unit of ResNet v1, one of v2, pooling, branches, a loss."""
    s = mx.sym

    def conv(data, name, filters=8):
        return s.Convolution(data, kernel=(3, 3), num_filter=filters, pad=(1, 1), no_bias=True, name=name)

    data = s.Variable("data")
    net = s.Activation(s.BatchNorm(conv(data, "conv0"), fix_gamma=False, name="bn0"), act_type="relu", name="relu0")
    inner = s.BatchNorm(conv(net, "conv1"), name="bn1")
    net = s.Activation(inner + net, act_type="relu", name="relu1")
    before = s.Activation(s.BatchNorm(net, fix_gamma=False, eps=2e-5, name="bn2"), act_type="relu", name="relu2")
    net = conv(before, "conv2") + net
    pooled = s.Pooling(net, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pool0")
    wide = s.Activation(conv(s.LRN(pooled, nsize=3, alpha=0.1, name="lrn0"), "conv3", 4), act_type="tanh", name="tanh3")
    net = s.Concat(wide, pooled * 0.5, name="concat0")
    net = s.Flatten(s.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool1"), name="flat")
    hidden = s.Activation(s.FullyConnected(net, num_hidden=6, name="fc0"), act_type="sigmoid", name="sigmoid0")
    return s.SoftmaxOutput(s.FullyConnected(hidden, num_hidden=5, name="fc1"), name="softmax"), {"data": (4, 3, 8, 6)}


def many():
    """More than ten inputs, and several outputs."""
    s = mx.sym
    inputs = [s.Variable("x%d" % i, lr_mult=2) for i in range(12)]
    net = s.add_n(*inputs, name="total")
    return s.Group([s.BlockGrad(net, name="stopped"), s.sum(net, axis=(0, 1), name="all"),
                    s.transpose(net, axes=(1, 0), name="turned")]), {"x0": (2, 3)}


def recurrent():
    """A language model."""
    s = mx.sym
    net = s.Embedding(s.Variable("data"), input_dim=11, output_dim=6, name="embed")
    net = s.transpose(net, axes=(1, 0, 2), name="steps_first")
    net = s.RNN(net, state_size=4, num_layers=2, mode="lstm", p=0.1, state_outputs=True, name="lstm")
    out = s.LayerNorm(net[0], name="norm")
    out = s.Reshape(out, shape=(-3, 0), name="rows")
    return s.softmax(s.FullyConnected(out, num_hidden=11, name="decoder"), axis=-1, name="p"), {"data": (3, 5)}


class Block(nn.HybridBlock):
    def __init__(self):
        super().__init__(prefix="block_")
        with self.name_scope():
            self.conv = nn.Conv2D(4, 3, groups=4, in_channels=4, use_bias=False)
            self.norm = nn.BatchNorm()

    def hybrid_forward(self, F, x):
        return F.clip(self.norm(self.conv(x)), 0, 6, name="relu6") + F.slice_axis(x, axis=2, begin=1, end=-1).slice_axis(
            axis=3, begin=1, end=-1)


def gluon():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 1), Block(), nn.AvgPool2D(2, count_include_pad=False), nn.GlobalAvgPool2D(), nn.Flatten(),
                nn.Dropout(0.2), nn.Dense(3, activation="tanh"))
    return net


def shape_lines(symbol, given):
    arguments, outputs, states = symbol.infer_shape(**given)
    for kind, names, shapes in (("argument", symbol.list_arguments(), arguments),
                                ("state", symbol.list_auxiliary_states(), states),
                                ("output", symbol.list_outputs(), outputs)):
        for name, shape in zip(names, shapes):
            yield "%s %s %s" % (kind, name, "x".join(map(str, shape)))


def write_shapes(folder, name, symbol, given):
    lines = ["given %s %s" % (key, "x".join(map(str, shape))) for key, shape in given.items()]
    (folder / (name + ".shapes")).write_text("\n".join(lines + list(shape_lines(symbol, given))) + "\n")


def write_symbol(folder, name, symbol, given):
    rng = np.random.RandomState(1)
    arguments, _, states = symbol.infer_shape(**given)
    values = {}
    for prefix, names, shapes in (("arg:", symbol.list_arguments(), arguments),
                                  ("aux:", symbol.list_auxiliary_states(), states)):
        for key, shape in zip(names, shapes):
            if key not in given and not key.endswith("label"):
                values[prefix + key] = mx.nd.array(rng.uniform(-1, 1, shape))
    symbol.save(str(folder / (name + "-symbol.json")))
    mx.nd.save(str(folder / (name + "-0000.params")), values)
    write_shapes(folder, name, symbol, given)
    if name == "recurrent":
        write_forward(folder, name, symbol, values, mx.nd.array(rng.randint(0, 11, given["data"])))
    if name == "residual":
        write_backward(folder, name, symbol, values, mx.nd.array(rng.uniform(-1, 1, given["data"])))


def write_backward(folder, name, symbol, values, data):
    """What MXNet computes in a training step: the output, the gradients, the states after it."""
    label = mx.nd.array([i % 5 for i in range(data.shape[0])])
    arguments = {key[4:]: value for key, value in values.items() if key.startswith("arg:")}
    states = {key[4:]: value.copy() for key, value in values.items() if key.startswith("aux:")}
    gradients = {key: mx.nd.zeros(value.shape) for key, value in arguments.items()}
    executor = symbol.bind(mx.cpu(), dict(arguments, data=data, softmax_label=label), args_grad=gradients, aux_states=states)
    computed = {"data": data, "softmax_label": label, "output": executor.forward(is_train=True)[0]}
    executor.backward()
    computed.update({"grad:" + key: value for key, value in gradients.items()})
    computed.update({"aux:" + key: value for key, value in states.items()})
    mx.nd.save(str(folder / (name + ".backward")), computed)


def write_forward(folder, name, symbol, values, data):
    """What MXNet computes of the first output."""
    arguments = {key[4:]: value for key, value in values.items() if key.startswith("arg:")}
    states = {key[4:]: value for key, value in values.items() if key.startswith("aux:")}
    output = symbol.bind(mx.cpu(), dict(arguments, data=data), aux_states=states).forward(is_train=False)[0]
    mx.nd.save(str(folder / (name + ".forward")), {"data": data, "output": output})


def write_gluon(folder, name, net, shape):
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(mx.nd.zeros(shape))
    net.export(str(folder / name), epoch=0)
    data = mx.nd.array(np.random.RandomState(2).uniform(-1, 1, shape))
    mx.nd.save(str(folder / (name + ".forward")), {"data": data, "output": net(data)})
    write_shapes(folder, name, mx.sym.load(str(folder / (name + "-symbol.json"))), {"data": shape})


ZOO = ["alexnet", "densenet121", "inceptionv3", "mobilenet1.0", "mobilenetv2_1.0", "resnet18_v1", "resnet50_v1", "resnet18_v2",
       "resnet152_v2", "squeezenet1.1", "vgg16_bn"]


def write(folder, zoo):
    folder.mkdir(parents=True, exist_ok=True)
    mx.random.seed(1)
    for make in (convolutional, residual, many, recurrent):
        write_symbol(folder, make.__name__, *make())
    write_gluon(folder, "gluon", gluon(), (2, 3, 8, 8))
    for name in ZOO if zoo else []:
        write_gluon(folder, name, vision.get_model(name), (1, 3, 299, 299) if name == "inceptionv3" else (1, 3, 224, 224))


def check(folder):
    wrong = 0
    for path in sorted((folder / "ours").glob("*-symbol.json")):
        name = path.name[:-len("-symbol.json")]
        symbol = mx.sym.load(str(path))
        expected = (folder / (name + ".shapes")).read_text().splitlines()
        given = {line.split()[1]: tuple(map(int, line.split()[2].split("x"))) for line in expected if line.startswith("given ")}
        same = [line for line in expected if not line.startswith("given ")] == list(shape_lines(symbol, given))
        ours = mx.nd.load(str(folder / "ours" / (name + "-0000.params")))
        theirs = mx.nd.load(str(folder / (name + "-0000.params")))
        same = same and ours.keys() == theirs.keys() and all((ours[k].asnumpy() == theirs[k].asnumpy()).all() for k in ours)
        print("%-20s %s" % (name, "equal" if same else "DIFFERS"))
        wrong += not same
    return 1 if wrong else 0


PREFIXES = {"densenet": "densenet0_", "mobilenetv2_": "mobilenetv20_", "mobilenet": "mobilenet0_", "squeezenet": "squeezenet0_",
            "vgg": "vgg0_"}


def zoo(folder):
    wrong = 0
    for path in sorted(folder.glob("*-symbol.json")):
        name = path.name[:-len("-symbol.json")]
        prefix = next((PREFIXES[start] for start in PREFIXES if name.startswith(start) and "-" not in name), None)
        if prefix is None:
            continue  # as MXNet's examples have it
        net = vision.get_model(name, prefix=prefix)
        theirs = mx.sym.SoftmaxOutput(net(mx.sym.Variable("data")), name="softmax")
        given = {"data": (1, 3, 224, 224)}
        same = sorted(shape_lines(mx.sym.load(str(path)), given)) == sorted(shape_lines(theirs, given))
        print("%-20s %s" % (name, "equal" if same else "DIFFERS"))
        wrong += not same
    return 1 if wrong else 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("write", "check", "zoo"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "write":
        sys.exit(write(folder, "--zoo" in sys.argv))
    sys.exit(check(folder) if sys.argv[1] == "check" else zoo(folder))


if __name__ == "__main__":
    main()
