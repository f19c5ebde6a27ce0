#!/usr/bin/env python3
"""Recomputes the numbers of Pitwall's findings from the events of the original trace files.

    recompute.py PITWALL [CORPUS] [--trace PART] [--quiet]

Analyses each trace of the corpus with the command PITWALL and computes the main numbers of each finding anew,
from the raw events and with Python's own library alone. Prints a table; exits 1 where a number differs, and
where a rule that fired has no recomputation. A number that the report rounds may differ by what rounding
takes away. A gain's high end is checked against its physical bound: sharing time with other findings may cut
it, nothing may raise it.
"""
import argparse
import json
import os
import re
import subprocess
import sys

import finding_numbers
import raw_events

SKIPPED = 77
OWN_CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/traces")

TRACE_ENDS = (".json", ".json.gz", ".gz", ".sqlite", ".log")
# Broken on purpose, or made for tests of parsers: no program of anybody's stands behind them.
NO_REAL_TRACES = ("malformed/", "perfetto_json/", "catapult/", "EXPECTED_COUNTS.json")

UNITS = {"%": 0.01, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "B": 1, "KiB": 2**10, "MiB": 2**20,
         "GiB": 2**30, "B/s": 1, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KB": 1e3, "MB": 1e6, "GB": 1e9, "": 1}


def parsed(text):
    """(value, half of its last place) of "98.3 %", "8.91 ms", "4374"."""
    found = re.fullmatch(r"(-?[\d,]*\.?\d+)\s*([A-Za-z/%]*)", text.strip())
    if not found or found.group(2) not in UNITS:
        return None
    digits = found.group(1).replace(",", "")
    decimals = len(digits.partition(".")[2])
    unit = UNITS[found.group(2)]
    return float(digits) * unit, 0.5 * 10.0**-decimals * unit


def agrees(ours, mine):
    number = parsed(ours) if isinstance(mine, (int, float)) and not (isinstance(mine, int) and ours.isdigit()) else None
    if number is None:
        return ours == str(mine)
    value, rounding = number
    # Three digits are shown of lengths and sizes, so "661 ms" is rounded, too.
    return abs(value - mine) <= rounding * 1.02 + abs(mine) * 1e-9


def analysed(pitwall, path):
    done = subprocess.run([pitwall, "analyze", path, "--no-env", "--format", "json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def traces(corpus):
    for folder, _, names in sorted(os.walk(corpus)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, corpus)
            if name.endswith(TRACE_ENDS) and not relative.startswith(NO_REAL_TRACES):
                yield relative, path


class Table:
    def __init__(self, quiet):
        self.quiet, self.wrong, self.right, self.missing = quiet, 0, 0, []

    def row(self, trace, rule, label, ours, mine, right):
        self.wrong += not right
        self.right += right
        if not right or not self.quiet:
            shown = "%.6g" % mine if isinstance(mine, float) else str(mine)
            print("%-58s %-30s %-22s %-20s %-20s %s" % (trace[-58:], rule, label, ours, shown, "yes" if right else "NO"))


def check(table, trace, finding, facts):
    rule = finding["id"]
    numbers = finding_numbers.RULES.get(rule)
    if numbers is None:
        table.missing.append((trace, rule))
        print("%-58s %-30s no recomputation" % (trace[-58:], rule))
        return
    pattern, recompute = numbers
    verdict = re.sub(r"\s+", " ", finding["verdict"])
    found = re.search(pattern, verdict)
    if not found:
        table.row(trace, rule, "verdict", verdict[:20], "not as expected", False)
        return
    mine = recompute(facts, finding)
    for label, ours in found.groupdict().items():
        if ours is not None:
            table.row(trace, rule, label, ours, mine[label], agrees(ours, mine[label]))
    gain = finding["gain"]
    if gain["high"] > 0 or "gain" in mine:
        low, high = mine["gain"]
        right = gain["low"] <= low + 1e-5 and gain["high"] <= high + 1e-5
        ours = "%.4f to %.4f" % (gain["low"], gain["high"])
        table.row(trace, rule, "gain, at most", ours, "%.4f to %.4f" % (low, high), right)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pitwall")
    arguments.add_argument("corpus", nargs="?", default=os.environ.get("PITWALL_TRACE_CORPUS") or OWN_CORPUS)
    arguments.add_argument("--trace", default="", help="only traces whose path has this part")
    arguments.add_argument("--quiet", action="store_true", help="only what does not agree")
    options = arguments.parse_args()
    if not os.path.isfile(os.path.join(options.corpus, "EXPECTED_COUNTS.json")):
        print("skipped: no traces in %s; PITWALL_TRACE_CORPUS names the folder that holds them" % options.corpus)
        return SKIPPED
    table, seen = Table(options.quiet), 0
    print("%-58s %-30s %-22s %-20s %-20s %s" % ("trace", "rule", "number", "ours", "recomputed", "agree"))
    for trace, path in traces(options.corpus):
        if options.trace not in trace:
            continue
        report = analysed(options.pitwall, path)
        if report is None or not report["findings"]:
            continue
        seen += 1
        facts = finding_numbers.Facts(*raw_events.read(path), report)
        for finding in report["findings"]:
            check(table, trace, finding, facts)
    print("%d traces with findings, %d numbers agree, %d differ, %d findings without recomputation"
          % (seen, table.right, table.wrong, len(table.missing)))
    if seen == 0:
        print("no trace of the corpus has findings: is the folder right?")
    return 1 if table.wrong or table.missing or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
