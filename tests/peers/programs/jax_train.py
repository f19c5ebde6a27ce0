"""Training of a small network with JAX, as a user writes it; prints the seconds of a step."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np


def loss(parameters, images, labels):
    hidden = jax.nn.relu(images @ parameters["w1"])
    scores = jax.nn.log_softmax(hidden @ parameters["w2"])
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


@jax.jit
def step(parameters, images, labels):
    value, gradients = jax.value_and_grad(loss)(parameters, images, labels)
    return value, jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, parameters, gradients)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    random = np.random.default_rng(0)
    parameters = {"w1": jnp.asarray(random.standard_normal((784, 256)) * 0.05), "w2": jnp.asarray(random.standard_normal((256, 10)))}
    images, labels = jnp.asarray(random.standard_normal((64, 784))), jnp.arange(64) % 10
    value, parameters = step(parameters, images, labels)
    print("first step done", flush=True)
    began = time.perf_counter()
    for _ in range(steps):
        value, parameters = step(parameters, images, labels)
    value.block_until_ready()
    print("seconds a step: %.9f" % ((time.perf_counter() - began) / steps), flush=True)


main()
