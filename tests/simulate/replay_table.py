#!/usr/bin/env python3
"""Prints, as Markdown, how well unchanged traces replay: tests/simulate/replay_table.py PITWALL FOLDER...

PITWALL is the command; each FOLDER holds traces of any format that it reads. docs/simulation.md has the table of the corpus.
"""

import json
import pathlib
import statistics
import subprocess
import sys

LARGEST_MEDIAN, LARGEST = 0.02, 0.05


def traces(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and path.name.endswith((".json", ".json.gz", ".gz", ".sqlite", ".log", ".pitwall", ".corrupt")):
            yield path


def simulated(command, path):
    """The simulation as JSON, or why there is none."""
    run = subprocess.run([command, "simulate", "--json", str(path)], capture_output=True, text=True)
    if run.returncode not in (0, 7):
        return None, run.stderr.strip().splitlines()[-1].removeprefix("pitwall: ") if run.stderr.strip() else "no output"
    return json.loads(run.stdout)["replay"], None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command, folders = sys.argv[1], sys.argv[2:]
    errors, rows, unreadable, without = [], [], 0, {}
    for folder in folders:
        for path in traces(folder):
            replay, _ = simulated(command, path)
            if replay is None:
                unreadable += 1
                continue
            if replay["iteration_source"] == "whole trace":
                why = replay["why"] or "predictable as one iteration"
                without[why] = without.get(why, 0) + 1
                continue
            name = path.relative_to(folder).as_posix()
            if replay["predictable"]:
                errors.append(abs(replay["error"]))
                answer = f"{100 * replay['error']:+.2f} %".replace("-0.00", "0.00").replace("+0.00", "0.00")
            else:
                answer = "not predictable: " + replay["why"]
            if replay["recorded_usual_ns"] > 0:
                time = f"{replay['recorded_usual_ns'] / 1e6:.3g} ms"
            else:
                time = "-"
            rows.append(f"| {name} | {replay['iteration_source']} | {replay['iterations']} | {replay['events']} | {time} | {answer} |")
    print("| trace | iterations from | iterations | events | iteration | replay |")
    print("|---|---|---:|---:|---:|---|")
    print("\n".join(rows))
    median, worst = statistics.median(errors), max(errors)
    print(f"\n{len(rows)} traces with iterations, of which {len(errors)} are predictable: median error {100 * median:.2f} %, "
          f"largest {100 * worst:.2f} %.")
    print("Traces without iterations: " + "; ".join(f"{count} {why}" for why, count in sorted(without.items())) + ".")
    print(f"Files that cannot be imported: {unreadable}.")
    sys.exit(0 if median <= LARGEST_MEDIAN and worst <= LARGEST else 1)


if __name__ == "__main__":
    main()
