"""Every result is kept in a list, though only the last is needed. Fixed: only its mean is."""

import numpy

import program

options = program.options()
generator = numpy.random.default_rng(1)
history = []


def step(number):
    result = generator.random(250_000)  # 2 MB
    for _ in range(8):
        result = numpy.sin(result)
    history.append(float(result.mean()) if options.fixed else result)


program.repeat(options.seconds, step)
