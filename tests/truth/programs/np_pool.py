"""Eight processes multiply matrices, each with as many BLAS threads as --number. Fixed: two processes, one thread each."""

import multiprocessing
import os
import time


def compute(seconds, results):
    import numpy
    a = numpy.ones((300, 300), dtype=numpy.float32)
    end, items = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        a.dot(a)
        items += 1
    results.put(items)


def main():
    import program
    options = program.options()
    processes = 2 if options.fixed else 8
    os.environ["OPENBLAS_NUM_THREADS"] = "1" if options.fixed else str(options.number or 4)
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    workers = [context.Process(target=compute, args=(options.seconds, results)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("items_per_second", sum(results.get() for _ in workers) / options.seconds)


if __name__ == "__main__":
    main()
