"""The store "local" of MXNet sums the arrays of 4 devices of the CPU, as kvstore_bench does: prints ELEMENTS MICROSECONDS for each size, the
median of 15 series of pushes."""

import statistics
import time

import mxnet as mx

SERIES = 15
store = mx.kv.create("local")
for key, elements in enumerate([1 << 18, 1 << 20, 1 << 22, 1 << 24]):
    arrays = [mx.nd.ones((elements,), ctx=mx.cpu(device)) for device in range(4)]
    store.init(key, arrays[0])
    calls = max(1, int(50e6 / elements / 4))
    times = []
    for series in range(-2, SERIES):
        begin = time.perf_counter()
        for _ in range(calls):
            store.push(key, arrays)
            mx.nd.waitall()
        if series >= 0:
            times.append((time.perf_counter() - begin) / calls * 1e6)
    print(elements, round(statistics.median(times), 1), flush=True)
