#!/usr/bin/env python3
"""Prints the MB (2^20 bytes) that MXNet plans for the intermediate results of a network: mxnet_planned_memory.py GRAPH.json BATCH SIZE inference|training"""

import re
import sys

import mxnet as mx

graph, batch, size, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
symbol = mx.sym.load(graph)
requests = "null"
if kind == "training":
    requests = {name: "null" if name in ("data", "softmax_label") else "write" for name in symbol.list_arguments()}
executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=(batch, 3, size, size))
print("planned MB:", re.search(r"Total (\d+) MB allocated", executor.debug_str()).group(1))
