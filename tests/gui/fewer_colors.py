#!/usr/bin/env python3
"""fewer_colors.py FILE.png...: rewrites pictures with their 256 most frequent colours, others as the nearest of these.

A third of the bytes; of a window's picture, shades of the edges of letters are all that changes.
"""
import collections
import struct
import sys
import zlib


def unfiltered(raw, width, height, size):
    """Lines of bytes, as PNG's five filters kept them."""
    previous, at = bytearray(width * size), 0
    for _ in range(height):
        kind, line = raw[at], bytearray(raw[at + 1:at + 1 + width * size])
        at += 1 + width * size
        if kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, previous))
        elif kind:
            for x in range(len(line)):
                left = line[x - size] if x >= size else 0
                above, corner = previous[x], previous[x - size] if x >= size else 0
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + above) // 2
                else:
                    estimate = left + above - corner
                    guess = min((abs(estimate - left), 0, left), (abs(estimate - above), 1, above),
                                (abs(estimate - corner), 2, corner))[2]
                line[x] = (line[x] + guess) & 255
        yield bytes(line)
        previous = line


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def reduce(path):
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if name == b"IHDR":
            width, height, depth, kind = struct.unpack(">IIBB", body[:10])
        packed += body if name == b"IDAT" else b""
        at += 12 + length
    if depth != 8 or kind not in (2, 6):
        return  # has a palette already
    size = 3 if kind == 2 else 4
    lines = [[line[x:x + 3] for x in range(0, len(line), size)]
             for line in unfiltered(zlib.decompress(packed), width, height, size)]
    counts = collections.Counter()
    for line in lines:
        counts.update(line)
    palette = [color for color, _ in counts.most_common(256)]
    index = {color: i for i, color in enumerate(palette)}
    for color in counts:
        if color not in index:
            index[color] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], color)))
    pixels = b"".join(b"\0" + bytes(index[color] for color in line) for line in lines)
    with open(path, "wb") as out:
        out.write(data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
                  chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b""))


for path in sys.argv[1:]:
    reduce(path)
