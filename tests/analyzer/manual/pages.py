#!/usr/bin/env python3
"""pages.py NAME=PROGRAM... FOLDER...: every command of each program has a man page that has its options and the sections that
a reader looks for, and groff renders it without a warning."""

import pathlib
import re
import shutil
import subprocess
import sys

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"]
failures = []


def check(what, holds):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def options_of(help_text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_text))


def text_of(page):
    """The page as plain text: rendered where groff is installed, else without its escapes."""
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-P-cbou", str(page)], capture_output=True, text=True)
        check(f"{page.name}: groff warns: {done.stderr}", done.returncode == 0 and not done.stderr)
        return done.stdout
    text = re.sub(r"\\f[BIR]", "", page.read_text(encoding="utf-8"))
    return re.sub(r'^\.SH "?([^"\n]+)"?$', r"\1", text, flags=re.M).replace("\\-", "-")


def check_page(page, help_text):
    check(f"there is no page {page}", page.exists())
    if not page.exists():
        return
    text = text_of(page)
    for section in SECTIONS:
        check(f"{page.name}: no section {section}", re.search(rf"^{section}$", text, re.M))
    plain = re.sub(r"\s+", " ", text)
    for option in options_of(help_text):
        check(f"{page.name}: {option} is missing", option in plain)


def main():
    programs = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
    pages = {p.name: p for a in sys.argv[1:] if "=" not in a for p in pathlib.Path(a, "man1").glob("*.1")}
    for name, program in programs.items():
        help_text = output(program, "--help")
        expected = {name: help_text}
        if "Subcommands:" in help_text:
            below = re.findall(r"^  (\w+) ", help_text.split("Subcommands:")[1].split("\n\n")[0], re.M)
            check(f"{name}: no commands in its help", len(below) >= 8)
            for command in below:
                expected[f"{name}-{command}"] = output(program, command, "--help")
        for page, text in expected.items():
            check_page(pages.get(page + ".1", pathlib.Path(page + ".1")), text)
            pages.pop(page + ".1", None)
    check(f"pages of no command: {sorted(pages)}", not pages)
    print(f"{'groff' if shutil.which('groff') else 'no groff: the source'} was read; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
