"""Ends with an exception after a moment, as a script does that finds no file. Fixed: the file is there."""

import time

import program

options = program.options()
time.sleep(0.1)
if not options.fixed:
    raise FileNotFoundError("weights.bin: no such file")
program.repeat(options.seconds, lambda step: sum(i * i for i in range(100_000)))
