"""Each expression makes arrays of 64 MB that the allocator takes from the system and gives back, so that each of their
pages faults each time. Fixed: results go into arrays that are there."""

import numpy

import program

options = program.options()
a = numpy.ones(8_000_000)
b = numpy.ones(8_000_000)
out = numpy.ones(8_000_000)


def step(number):
    if options.fixed:
        numpy.add(a, b, out=out)
        numpy.add(out, a, out=out)
    else:
        (a + b) + a


program.repeat(options.seconds, step)
