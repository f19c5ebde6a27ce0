"""What the Python programs of this folder share: options, and steps for so many seconds."""

import argparse
import time


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--fixed", action="store_true", help="without the planted cause")
    parser.add_argument("--folder", default=".", help="where files are written")
    parser.add_argument("--number", type=int, default=0, help="what it means is the program's own")
    parser.add_argument("--trace", help="PyTorch's profile is written here")
    return parser.parse_args()


def repeat(seconds, step):
    """Calls step(number) until the time is over and prints the rate."""
    begin = time.perf_counter()
    items = 0
    while True:
        step(items)
        items += 1
        elapsed = time.perf_counter() - begin
        if elapsed >= seconds:
            break
    print("items_per_second", items / elapsed)
