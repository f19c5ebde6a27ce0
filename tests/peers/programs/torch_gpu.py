"""torch_gpu.py PASS DTYPE BATCH...: images per second of PyTorch's ResNet-50 on a GPU, with channels last and CUDA graphs.

PASS is inference or training; DTYPE float32 (with TF32 unless TF32=0), float16 or bfloat16. Training keeps weights as float32 and computes by
autocast.
"""

import os
import sys
import time

import torch
import torchvision

passes, dtype, batches = sys.argv[1], getattr(torch, sys.argv[2]), [int(b) for b in sys.argv[3:]]
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = os.environ.get("TF32", "1") != "0"


def inference(batch):
    network = torchvision.models.resnet50().cuda().eval().to(dtype=dtype, memory_format=torch.channels_last)
    data = torch.rand(batch, 3, 224, 224, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        network(data)
    return step


def training(batch):
    network = torchvision.models.resnet50().cuda().train().to(memory_format=torch.channels_last)
    data = torch.rand(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (batch,), device="cuda")
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4, fused=True)
    loss = torch.nn.CrossEntropyLoss()
    scale = 128.0 if dtype is torch.float16 else 1.0

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=dtype, enabled=dtype is not torch.float32, cache_enabled=False):
            value = loss(network(data), labels)
        (value * scale).backward()
        optimizer.step()
    return step


for batch in batches:
    step = (inference if passes == "inference" else training)(batch)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < 1.5:
        for _ in range(4):
            graph.replay()
        torch.cuda.synchronize()
        count += 4
    print("torch %s %s batch %d: %.0f images/s" % (passes, sys.argv[2], batch, count * batch / (time.perf_counter() - began)), flush=True)
