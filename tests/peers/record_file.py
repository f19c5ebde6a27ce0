"""record_file.py IM2REC TRAIN_IMAGENET LIST ROOT: record files of samples/im2rec are read by MXNet, and those that MXNet writes by
samples/train_imagenet.

Run by a Python that has MXNet 1.9.1, with the list and the folder that im2rec is given. Ends with 1 at a difference.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

import mxnet
from mxnet import recordio

im2rec, train, listed, root = sys.argv[1:]
MAGIC = struct.pack("<I", 0xced7230a)


def images_of(path):
    """What train_imagenet reads: its number of batches of 8, and what it prints about damage."""
    run = subprocess.run([train, "--data-train", path, "--test-io", "1", "--batch-size", "8", "--image-size", "32"],
                         capture_output=True, text=True, check=True)
    return int(run.stdout.split("Batches [")[1].split("]")[0]), run.stderr


def check(condition, what):
    print(("ok      " if condition else "DIFFERS ") + what)
    if not condition:
        sys.exit(1)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "a.lst").write_text(pathlib.Path(listed).read_text())
    subprocess.run([im2rec, "--pass-through", str(folder / "a.lst"), root], check=True, stdout=subprocess.DEVNULL)
    lines = [line.split("\t") for line in (folder / "a.lst").read_text().splitlines()]
    reader = recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "r")
    same = True
    for line in lines:
        header, image = recordio.unpack(reader.read_idx(int(line[0])))
        same &= header.id == int(line[0]) and header.label == float(line[1])
        same &= image == (pathlib.Path(root) / line[-1]).read_bytes()
    check(same, f"MXNet reads {len(lines)} records of im2rec by their index")

    # Magic numbers at every place, several labels.
    payloads = [b"", MAGIC, b"ab" + MAGIC, b"abcd" + MAGIC * 2 + b"x", b"x" * 1001]
    payloads += [(pathlib.Path(root) / line[-1]).read_bytes() for line in lines[:40]]
    writer = recordio.MXIndexedRecordIO(str(folder / "b.idx"), str(folder / "b.rec"), "w")
    for number, payload in enumerate(payloads):
        label = 1.0 if number % 2 else [1.0, 2.0, 3.0]
        writer.write_idx(number, recordio.pack(recordio.IRHeader(0, label, number, 0), payload))
    writer.close()
    batches, problems = images_of(str(folder / "b.rec"))
    check(batches == (len(payloads) + 7) // 8 and "5 images skipped" in problems, f"{len(payloads)} records of MXNet are read, 5 are no images")
    (folder / "b.idx").unlink()
    batches, again = images_of(str(folder / "b.rec"))
    check(batches == (len(payloads) + 7) // 8 and again == problems, "the same without an index")
