#!/usr/bin/env python3
"""Writes docs/schema.md from the comments of db/schema/schema.sql; --check only says whether it is up to date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "db/schema/schema.sql"
TARGET = ROOT / "docs/schema.md"

COLUMN = re.compile(r"\s+(\w+) (INTEGER|TEXT|REAL|BLOB)([^-]*?),?\s+-- (.+)")


def comment(line):
    return line[2:].removeprefix(" ")


def paragraphs(lines):
    """Comment lines as Markdown: a line '--' parts paragraphs, an indented line belongs to the one above."""
    out, current = [], []
    for line in lines:
        if not line:
            out.append(" ".join(current))
            current = []
        elif re.match(r"\w+\(.*\)", line):  # a signature: a bullet
            out.append(" ".join(current))
            current = [f"- `{line}`:"]
        else:
            current.append(line.strip())
    return "\n\n".join(p for p in out + [" ".join(current)] if p)


def table(name, about, columns):
    rows = [f"| `{c}` | {t}{', may be NULL' if 'NOT NULL' not in rest and 'KEY' not in rest else ''} | {doc} |"
            for c, t, rest, doc in columns]
    return "\n".join([f"### {name}", "", about, "", "| column | type | meaning |", "|---|---|---|", *rows])


def generate(sql):
    pending, parts, lines = [], [], sql.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("--"):
            pending.append(comment(line))
        elif line.startswith("CREATE TABLE"):
            name, columns = re.match(r"CREATE TABLE (\w+)", line)[1], []
            at += 1
            while not lines[at].startswith(")"):
                match = COLUMN.match(lines[at])
                if not match:
                    sys.exit(f"{SOURCE}:{at + 1}: a column needs a sentence: name TYPE ...,  -- what it is, with its unit")
                columns.append(match.groups())
                at += 1
            if not pending:
                sys.exit(f"{SOURCE}:{at + 1}: table {name} needs a sentence above it")
            parts.append(table(name, paragraphs(pending), columns))
            pending = []
        elif not line and pending and not parts:
            parts.append(paragraphs(pending) + "\n\n## Stored tables")
            pending = []
        at += 1
    parts.append("## Virtual tables and functions\n\n" + paragraphs(pending))
    note = "<!-- Generated from db/schema/schema.sql by .ci/schema_docs.py; change it there. -->"
    return "\n\n".join(["# The trace file", note, *parts]) + "\n"


def main():
    text = generate(SOURCE.read_text(encoding="utf-8"))
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("docs/schema.md is not what db/schema/schema.sql says: run .ci/schema_docs.py")


main()
