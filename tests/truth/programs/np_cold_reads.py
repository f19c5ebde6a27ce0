"""Reads its samples from the disk itself in every pass: their pages are dropped first. Fixed: they stay in memory."""

import os

import numpy

import program

options = program.options()
SAMPLE, SAMPLES = 256 << 10, 400
path = os.path.join(options.folder, "samples.bin")
with open(path, "wb") as file:
    for _ in range(SAMPLES):
        file.write(os.urandom(SAMPLE))
    file.flush()
    os.fsync(file.fileno())
descriptor = os.open(path, os.O_RDONLY)
os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)


def step(number):
    place = number * 97 % SAMPLES * SAMPLE
    if not options.fixed:
        os.posix_fadvise(descriptor, place, SAMPLE, os.POSIX_FADV_DONTNEED)
    sample = numpy.frombuffer(os.pread(descriptor, SAMPLE, place), dtype=numpy.uint8)
    sample[::16].sum()


program.repeat(options.seconds, step)
os.unlink(path)
