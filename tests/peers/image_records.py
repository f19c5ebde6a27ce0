"""image_records.py FILE.rec THREADS: images/s of MXNet's ImageRecordIter over the file; input_bench compares with it.

Run by a Python that has MXNet 1.9.1. Prints one number.
"""

import os
import sys
import time

path, threads = sys.argv[1], int(sys.argv[2])
os.environ["OMP_NUM_THREADS"] = str(threads)  # MXNet reads it when it is loaded

import mxnet

batches = mxnet.io.ImageRecordIter(path_imgrec=path, path_imgidx=path[:-3] + "idx", data_shape=(3, 224, 224), batch_size=32, resize=256,
                                   rand_crop=True, rand_mirror=True, mean_r=120, mean_g=120, mean_b=120, preprocess_threads=threads,
                                   prefetch_buffer=4, verbose=False)


def epoch():
    images = 0
    for batch in batches:
        batch.data[0].wait_to_read()
        images += batch.data[0].shape[0]
    batches.reset()
    return images


epoch()  # starts the threads and fills the system's cache
began = time.perf_counter()
images = epoch() + epoch()
print(images / (time.perf_counter() - began))
