#!/usr/bin/env python3
"""Checks the budgets: files 300 lines (400 at most), C++ functions 40 lines (70 at most).

Exceeding the soft budget is reported, exceeding the hard one fails. --all lists all of the soft ones. Functions are found by their
braces, which is precise enough: lambdas and local types count as part of the function around them.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE_SOFT, FILE_HARD = 300, 400
FUNCTION_SOFT, FUNCTION_HARD = 40, 70
# One algorithm or table with a long introduction may be longer: path -> reason.
LONGER = {}

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                       # comments
      |R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"    # raw strings
      |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'   # strings; a digit separator is no character
      |^[ \t]*\#(?:\\\n|[^\n])*                  # preprocessor lines""",
    re.S | re.M | re.X)
NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b(?![^(]*\()")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")


def blanked(text):
    """The text without comments and strings; line breaks stay."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    """(name, first line, lines) of each function body."""
    text = blanked(text)
    line, start, depth = 1, 0, 0
    header = ""  # the text between the last ; { } and here
    inside = None  # (name, first line, depth) of the function we are in
    for position, c in enumerate(text):
        if c == "\n":
            line += 1
        if c == "{":
            if inside is None and "(" in header and not NOT_A_FUNCTION.search(header.split("(")[0]):
                first = line - text[start:position].lstrip().count("\n")
                name = NAME.search(header)
                inside = (name[1] if name else "?", first, depth)
            depth += 1
        elif c == "}":
            depth -= 1
            if inside is not None and depth == inside[2]:
                yield inside[0], inside[1], line - inside[1] + 1
                inside = None
        if c in ";{}":
            header, start = "", position + 1
        else:
            header += c


def check_file(path):
    """(line, text, is_hard) of each file or function over budget."""
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = text.count("\n")
    hard = LONGER.get(path, FILE_HARD)
    if lines > FILE_SOFT:
        yield 1, f"{lines} lines (budget {FILE_SOFT}, at most {hard}); split it, one subject per file", lines > hard
    if path.endswith((".h", ".cpp")):
        for name, first, length in functions(text):
            if length > FUNCTION_SOFT:
                yield (first, f"{name} has {length} lines (budget {FUNCTION_SOFT}, at most {FUNCTION_HARD}); "
                       "name its parts and make them functions", length > FUNCTION_HARD)


def main():
    patterns = ["*.h", "*.cpp", "*.py", "*.sh", "*.cmake", "*CMakeLists.txt", "*.sql", "*.toml"]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    paths = [p for p in listed if (ROOT / p).is_file()]
    soft = hard = 0
    for path in paths:
        for line, what, is_hard in check_file(path):
            soft += not is_hard
            hard += is_hard
            if is_hard or "--all" in sys.argv[1:]:
                print(f"{path}:{line}: {what}")
    print(f"sizes: {len(paths)} files, {hard} over the limit, {soft} over budget"
          + ("" if "--all" in sys.argv[1:] or not soft else " (--all lists them)"))
    return 1 if hard else 0


if __name__ == "__main__":
    sys.exit(main())
