"""A program with threads in known functions, for as long as its first thread needs for some CPU time."""
import hashlib
import os
import sys
import threading
import time


def spin(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def main_loop(seconds):
    while time.thread_time() < seconds:
        spin(20000)  # LINE main_loop


def other_loop(done):
    while not done.is_set():
        spin(20000)


def hash_loop(seconds):
    """Nearly all of the time is in OpenSSL's library."""
    block = bytes(1 << 20)
    while time.thread_time() < seconds:
        hashlib.sha256(block)


def sleeper():
    time.sleep(3600)


def reader(end):
    os.read(end, 1)


def worker(seconds):
    main_loop(seconds)
    os._exit(0)


def threads(seconds):
    done = threading.Event()
    out, _ = os.pipe()
    other = threading.Thread(target=other_loop, args=(done,))
    other.start()
    threading.Thread(target=sleeper, daemon=True).start()
    threading.Thread(target=reader, args=(out,), daemon=True).start()
    main_loop(seconds)
    done.set()
    other.join()


def fork(seconds):
    if os.fork() == 0:
        worker(seconds)
    os.wait()


def loader(seconds):
    """A worker process as PyTorch's DataLoader starts them."""
    names = {"main_loop": main_loop}
    code = "def _worker_loop(a, b, c, d, e, f, g, h, i, j, worker_id, num_workers, k):\n    main_loop(k)\n"
    exec(compile(code, "/x/torch/utils/data/_utils/worker.py", "exec"), names)
    if os.fork() == 0:
        names["_worker_loop"](*[None] * 10, 3, 4, seconds)
        os._exit(0)
    os.wait()


{"loader": loader, "threads": threads, "fork": fork, "busy": main_loop, "hash": hash_loop}[sys.argv[1]](float(sys.argv[2]))
