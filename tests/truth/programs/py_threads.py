"""Four Python threads compute at once, and the interpreter lets one of them run. Fixed: four processes do."""

import multiprocessing
import threading
import time

import program


def compute(seconds, results):
    end, items = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        total = 0
        for i in range(20_000):
            total += i * i
        items += 1
    results.put(items)


def main():
    options = program.options()
    kind = multiprocessing.Process if options.fixed else threading.Thread
    results = multiprocessing.SimpleQueue()
    workers = [kind(target=compute, args=(options.seconds, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("items_per_second", sum(results.get() for _ in workers) / options.seconds)


if __name__ == "__main__":
    main()
