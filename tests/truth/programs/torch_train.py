"""Trains a small convolutional network with PyTorch. --cause names what is planted; --fixed takes it away. With
--trace the program exports PyTorch's own profile of its last steps."""

import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import program

CAUSE = "none"
if "--cause" in sys.argv:
    at = sys.argv.index("--cause")
    CAUSE = sys.argv[at + 1]
    del sys.argv[at:at + 2]
OPTIONS = program.options()
FIXED = OPTIONS.fixed


def planted(cause):
    return CAUSE == cause and not FIXED


class Images(Dataset):
    """Noise as images; reading one takes as long as the cause says."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if CAUSE == "storage":  # a file system far away: waits, without a CPU
            time.sleep(0.002)
        elif CAUSE == "decoding":
            decoded = 0
            for i in range(6_000):
                decoded = (decoded * 31 + i) % 1_000_003
        return torch.full((3, 32, 32), float(index % 7)), index % 10


def loader_workers():
    if CAUSE in ("storage", "decoding"):
        return 0 if planted(CAUSE) else (4 if CAUSE == "storage" else 1)
    return 0


class Trainer:
    def __init__(self):
        torch.manual_seed(1)
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(4), nn.Flatten(), nn.Linear(16 * 8 * 8, 10))
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        # Batches that are there already cost nothing: then loading is not what is looked at.
        self.ready = (torch.rand(16, 3, 32, 32), torch.arange(16) % 10)
        self.batches = None
        if CAUSE in ("storage", "decoding"):
            self.batches = iter(DataLoader(Images(), batch_size=16, num_workers=loader_workers()))
        self.kept = []

    def step(self, number):
        images, labels = self.ready if self.batches is None else next(self.batches)
        self.optimizer.zero_grad()
        output = self.model(images)
        loss = self.loss(output, labels)
        if CAUSE == "tiny":
            loss = loss + self.penalty()
        loss.backward()
        self.optimizer.step()
        self.after(number, loss)

    def penalty(self):
        """The sum of 300 scaled values: one by one, or at once."""
        values = self.model[0].bias.repeat(19)[:300]
        if FIXED:
            return (values * 1e-6).sum()
        total = torch.zeros(())
        for i in range(300):
            total = total + values[i] * 1e-6
        return total

    def after(self, number, loss):
        if planted("own_code"):  # statistics in plain Python, which a tensor operation would give
            flat = self.model[6].weight.detach().flatten().tolist()
            for _ in range(30):
                sum(value * value for value in flat)
        elif CAUSE == "own_code":
            float((self.model[6].weight.detach()**2).sum())
        if CAUSE == "copies":
            self.copy_around()
        if CAUSE == "checkpoint" and number % (100 if FIXED else 1) == 0:
            with open(os.path.join(OPTIONS.folder, "model.pt"), "wb") as file:
                torch.save({"model": self.model.state_dict(), "history": torch.zeros(1_000_000)}, file)
                file.flush()
                os.fsync(file.fileno())
        if CAUSE == "keeps_graph":
            self.kept.append(float(loss) if FIXED else (loss, self.model(self.ready[0])))
        if CAUSE == "rare_checkpoint" and number % 10 == 9 and not FIXED:
            time.sleep(0.3)

    def copy_around(self):
        """Images that are turned to another layout and type and back, for nothing."""
        if FIXED:
            return
        for _ in range(4):
            images = torch.ones(16, 3, 160, 160)
            images = images.permute(0, 2, 3, 1).contiguous().double().float().permute(0, 3, 1, 2).contiguous()


def main():
    trainer = Trainer()
    for number in range(3):  # warm
        trainer.step(number)
    if OPTIONS.trace is None:
        program.repeat(OPTIONS.seconds, trainer.step)
        return
    end = time.perf_counter() + OPTIONS.seconds
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        number = 0
        while time.perf_counter() < end and number < 400:
            trainer.step(number)
            profiler.step()
            number += 1
    profiler.export_chrome_trace(OPTIONS.trace)


if __name__ == "__main__":
    main()
