"""mxnet_train_speed.py SYMBOL.json BATCH SIZE BATCHES: images per second of MXNet 1.9.1 training the graph with SGD, synthetic data.

The first two batches are not counted. Called by tests/peers/train.py.
"""

import sys
import time

import mxnet as mx
import numpy as np

path, batch, size, batches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
symbol = mx.sym.load(path)
requests = {name: "null" if name in ("data", "softmax_label") else "write" for name in symbol.list_arguments()}
executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=(batch, 3, size, size))
rng = np.random.RandomState(1)
for name, array in executor.arg_dict.items():
    if name.endswith("_weight"):
        array[:] = rng.normal(0, np.sqrt(2.0 / max(1, np.prod(array.shape[1:]))), array.shape)
    else:
        array[:] = 1 if name.endswith("_gamma") else rng.uniform(-1, 1, array.shape) if name == "data" else 0
for name, array in executor.aux_dict.items():
    array[:] = 1 if name.endswith("_var") else 0
trained = [name for name, request in requests.items() if request == "write"]
momenta = {name: mx.nd.zeros(executor.arg_dict[name].shape) for name in trained}


def step():
    executor.forward(is_train=True)
    executor.backward()
    for first in range(0, len(trained), 4):  # as MXNET_OPTIMIZER_AGGREGATION_SIZE says
        names = trained[first:first + 4]
        arrays = [a for name in names for a in (executor.arg_dict[name], executor.grad_dict[name], momenta[name])]
        mx.nd.multi_sgd_mom_update(*arrays, out=[executor.arg_dict[name] for name in names], num_weights=len(names),
                                   lrs=[0.1] * len(names), wds=[1e-4] * len(names), momentum=0.9, rescale_grad=1.0 / batch)
    executor.outputs[0].wait_to_read()


for _ in range(2):
    step()
mx.nd.waitall()
began = time.perf_counter()
for _ in range(batches):
    step()
mx.nd.waitall()
print("images/s: %f" % (batches * batch / (time.perf_counter() - began)))
