"""make_images.py FOLDER COUNT WIDTH HEIGHT: PNG files FOLDER/CLASS/N.png, of three classes that differ in brightness."""

import pathlib
import random
import struct
import sys
import zlib


def png(width, height, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


folder, (count, width, height) = pathlib.Path(sys.argv[1]), map(int, sys.argv[2:5])
choose = random.Random(1)
for number in range(count):
    kind = number % 3
    place = folder / ("dark", "grey", "light")[kind]
    place.mkdir(parents=True, exist_ok=True)
    rows = b"".join(b"\0" + bytes(80 * kind + choose.randrange(60) for _ in range(3 * width)) for _ in range(height))
    (place / f"{number:04}.png").write_bytes(png(width, height, rows))
