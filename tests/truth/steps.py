#!/usr/bin/env python3
"""A Python program of equal steps: multiplies matrices of lists. Writes its steps as a Chrome trace.

steps.py TRACE.json [WORK [STEPS]]: WORK multiplications a step (100), so that 110 is a program that takes 10 % longer."""

import json
import sys
import time

SIZE = 6


def multiply(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def main():
    path = sys.argv[1]
    work = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    matrix = [[(i * SIZE + j) % 7 / 7 for j in range(SIZE)] for i in range(SIZE)]
    events = [{"ph": "M", "name": "trace", "pid": 1, "args": {"name": "steps.py"}}]
    for step in range(steps):
        begin = time.perf_counter_ns()
        for _ in range(work):
            multiply(matrix, matrix)
        end = time.perf_counter_ns()
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": begin / 1000, "dur": (end - begin) / 1000})
        events.append({"ph": "X", "cat": "cpu_op", "name": "multiply", "pid": 1, "tid": 1,
                       "ts": begin / 1000 + 0.1, "dur": (end - begin) / 1000 - 0.2})
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)


main()
