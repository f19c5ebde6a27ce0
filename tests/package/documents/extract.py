#!/usr/bin/env python3
"""extract.py OUT DOCUMENT...: writes each C, C++ and CMake block of the documents to OUT/NAME_LINE.{c,cpp,cmake} and prints
their names. Blocks of C and C++ in documents are complete programs."""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```(c|cpp|cmake)\n(.*?)^```$", re.S | re.M)


def main():
    out, names = pathlib.Path(sys.argv[1]), []
    for document in map(pathlib.Path, sys.argv[2:]):
        text = document.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = f"{document.stem}_{line}.{match[1]}"
            if match[1] != "cmake" and "int main(" not in match[2]:
                sys.exit(f"{document}:{line}: is no complete program; begin with #include and end with int main()")
            (out / name).write_text(match[2], encoding="utf-8")
            names.append(name)
    print(";".join(names), end="")


if __name__ == "__main__":
    main()
