"""Training of a small convolutional network with PyTorch, as a user writes it; prints the seconds of a step. WORKERS processes load its
data: 1 by default."""

import os
import sys
import time

import torch
from torch import nn


class Images(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        image = torch.full((3, 32, 32), float(index % 7))
        return image.roll(index % 5, 1), index % 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU())
        self.classifier = nn.Linear(32 * 12 * 12, 10)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    workers = int(os.environ.get("WORKERS", 1))
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    loader = torch.utils.data.DataLoader(Images(32 * (steps + 1)), batch_size=32, num_workers=workers)
    began = None
    for images, labels in loader:
        optimizer.zero_grad()
        loss = loss_of(net(images), labels)
        loss.backward()
        optimizer.step()
        if began is None:
            print("first step done", flush=True)
            began = time.perf_counter()
    print("seconds a step: %.9f" % ((time.perf_counter() - began) / steps), flush=True)


if __name__ == "__main__":
    main()
