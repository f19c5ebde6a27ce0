"""Plain Python on one thread: counts words, as a program does that needs no other CPU."""

import collections

import program

options = program.options()
TEXT = "the quick brown fox jumps over the lazy dog " * 2000
program.repeat(options.seconds, lambda step: collections.Counter(TEXT.split()).most_common(3))
