"""Metrics are forced to the disk after each step. Fixed: they are written only."""

import os

import numpy

import program

options = program.options()
values = numpy.ones(20_000)
with open(os.path.join(options.folder, "metrics.csv"), "a", encoding="utf-8") as log:

    def step(number):
        loss = float(numpy.sqrt(values + number).sum())
        log.write(f"{number},{loss}\n")
        if not options.fixed:
            log.flush()
            os.fsync(log.fileno())

    program.repeat(options.seconds, step)
