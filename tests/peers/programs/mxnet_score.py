"""mxnet_score.py SYMBOL.json BATCH SIZE SECONDS: images per second of inference with MXNet and its oneDNN fusions."""

import sys
import time

import mxnet as mx


def main():
    path, batch, size, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    symbol = mx.sym.load(path)
    shape = (batch, 3, size, size)
    arguments, _, states = symbol.infer_shape(data=shape)
    values = {name: mx.nd.random.uniform(-0.05, 0.05, s) for name, s in zip(symbol.list_arguments(), arguments)}
    auxiliary = {name: mx.nd.ones(s) for name, s in zip(symbol.list_auxiliary_states(), states)}
    weights = {name: value for name, value in values.items() if name != "data"}
    fused = symbol.optimize_for("MKLDNN", weights, auxiliary)
    executor = fused.bind(mx.cpu(), args=values, aux_states=auxiliary, grad_req="null")

    def run():
        executor.forward(is_train=False)[0].wait_to_read()

    for _ in range(3):
        run()
    passes, began = 0, time.perf_counter()
    while passes < 3 or time.perf_counter() - began < seconds:
        run()
        passes += 1
    print("images/s: %.3f" % (batch * passes / (time.perf_counter() - began)))


main()
