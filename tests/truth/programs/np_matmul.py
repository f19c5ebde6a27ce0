"""Multiplies matrices. Nothing is planted in the code: the library and its threads come from the environment."""

import numpy

import program

options = program.options()
generator = numpy.random.default_rng(1)
a = generator.random((400, 400), dtype=numpy.float32)
b = generator.random((400, 400), dtype=numpy.float32)
product = numpy.empty((400, 400), dtype=numpy.float32)
program.repeat(options.seconds, lambda step: numpy.dot(a, b, out=product))
