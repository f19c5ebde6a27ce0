"""A worker, server or scheduler (DMLC_ROLE) of MXNet's dist_sync: sums the arrays of kvstore_bench over all workers, in turn for each size.

The worker of rank 0 prints COUNT ELEMENTS MICROSECONDS for each size: the median of 15 series of pushes and pulls of all arrays.
"""

import statistics
import time

import mxnet as mx

SIZES = [(64, 1 << 14), (16, 1 << 18), (8, 1 << 20), (4, 1 << 22)]
SERIES = 15

store = mx.kv.create("dist_sync")  # a server or the scheduler stays here until the job ends
for at, (count, elements) in enumerate(SIZES):
    keys = [f"{at}.{i}" for i in range(count)]
    arrays = [mx.nd.ones((elements,)) for _ in keys]
    for key, array in zip(keys, arrays):
        store.init(key, array)

    def sum_all():
        for priority, (key, array) in enumerate(zip(keys, arrays)):
            store.push(key, array, priority=-priority)
            store.pull(key, array, priority=-priority)
        mx.nd.waitall()

    calls = max(1, int(20e6 / (count * elements * 4)))
    times = []
    for series in range(-2, SERIES):
        begin = time.perf_counter()
        for _ in range(calls):
            sum_all()
        if series >= 0:
            times.append((time.perf_counter() - begin) / calls * 1e6)
    if store.rank == 0:
        print(count, elements, round(statistics.median(times), 1), flush=True)
