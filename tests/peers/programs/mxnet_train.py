"""Training of a small convolutional network with MXNet 1.9.1 and Gluon, as a user writes it; prints the seconds of a step."""

import sys
import time

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn


def augment(images):
    """The program's own part."""
    flipped = [image[:, :, ::-1] if i % 2 else image for i, image in enumerate(images)]
    return np.stack(flipped) + np.random.normal(0, 0.01, images.shape).astype(np.float32)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, 5, activation="relu"), nn.MaxPool2D(2), nn.Conv2D(32, 3, activation="relu"), nn.Flatten(), nn.Dense(10)
    )
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    images = np.random.default_rng(0).standard_normal((32, 3, 32, 32)).astype(np.float32)
    labels = mx.nd.array(np.arange(32) % 10)

    def step():
        data = mx.nd.array(augment(images))
        with autograd.record():
            loss = loss_of(net(data), labels)
        loss.backward()
        trainer.step(32)
        return loss.mean().asscalar()

    step()
    print("first step done", flush=True)
    began = time.perf_counter()
    for _ in range(steps):
        step()
    print("seconds a step: %.9f" % ((time.perf_counter() - began) / steps), flush=True)


main()
