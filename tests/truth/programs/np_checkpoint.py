"""All weights are saved, to the disk itself, after each step. Fixed: after each 200th."""

import os

import numpy

import program

options = program.options()
weights = numpy.ones((1024, 1024))
path = os.path.join(options.folder, "weights.npy")


def step(number):
    global weights
    for _ in range(4):
        weights = weights * 0.999
    if number % (200 if options.fixed else 1) == 0:
        with open(path, "wb") as file:
            numpy.save(file, weights)
            file.flush()
            os.fsync(file.fileno())


program.repeat(options.seconds, step)
