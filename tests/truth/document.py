"""Writes the tables of docs/truth.md, between its marks, from the results of run.py."""

import platform
import re
import statistics

import outcome


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} CPUs"


def predicted_by(result):
    """The finding whose gain was compared with the fix."""
    return next((rule for rule, _ in result["findings"] if rule in result["expected"]), None)


def error(result):
    """Between the estimate and what was measured, as shares."""
    return abs(result["estimated"] - result["measured"])


def asked(results):
    return [r for r in results if r["inside"] is not None]


def percent(value):
    return f"{100 * value:.0f} %"


def share(part, whole):
    return f"{part} of {whole} ({percent(part / whole)})" if whole else f"{part} of {whole}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def totals(results, summary):
    questions = asked(results)
    rows = [["first finding names the planted cause", share(summary["first_right"], summary["planted"]), "90 %"],
            ["false findings on healthy programs", f"{summary['false_alarms']} on {summary['healthy']} programs", "0"],
            ["false findings beside a planted cause", str(summary["false_beside_planted"]), "0"],
            ["finding still there when the cause is fixed", str(summary["still_there_when_fixed"]), "0"],
            ["intervals that hold the measured gain, give or take "
             f"{100 * outcome.TOLERANCE:.0f} points", share(summary["inside"], summary["intervals"]), "80 %"]]
    if questions:
        widths = [r["predicted"][1] - r["predicted"][0] for r in questions]
        rows += [["median width of these intervals", f"{100 * statistics.median(widths):.0f} points", ""],
                 ["median distance between the estimate and the measured gain",
                  f"{100 * statistics.median(error(r) for r in questions):.0f} points", ""]]
    rows.append(["causes found without a predicted gain", str(summary["without_interval"]), ""])
    if summary["skipped"] or summary["failed"]:
        rows.append(["programs skipped; failed", f"{summary['skipped']}; {summary['failed']}", "0 failed"])
    return table(["", "result", "needed"], rows)


def by_rule(results):
    rules = {}
    for result in asked(results):
        rules.setdefault(predicted_by(result), []).append(result)
    rows = []
    for rule, of_rule in sorted(rules.items()):
        rows.append([f"`{rule}`", str(len(of_rule)), str(sum(r["inside"] for r in of_rule)),
                     f"{100 * statistics.median(r['predicted'][1] - r['predicted'][0] for r in of_rule):.0f} points",
                     f"{100 * statistics.median(map(error, of_rule)):.0f} points"])
    return table(["rule", "predictions", "held", "median width", "median distance"], rows)


def of_program(result, about):
    if result["skipped"] or result["failed"]:
        why = "skipped: " + result["skipped"] if result["skipped"] else "failed: " + " ".join(result["failed"].split())
        return [f"`{result['name']}`", about, why[:100], "", "", "", ""]
    first = f"`{result['findings'][0][0]}`" if result["findings"] else "none"
    if not result["right"]:
        first += ", wrong"
    predicted = "" if result["predicted"] is None else " to ".join(percent(p) for p in result["predicted"])
    estimated = "" if result["predicted"] is None else percent(result["estimated"])
    measured = "" if result["measured"] is None else percent(result["measured"])
    held = {None: "", True: "yes", False: "no"}[result["inside"]]
    return [f"`{result['name']}`", about, first, predicted, estimated, measured, held]


def programs(results, cases, kind):
    about = {case.name: case.about for case in cases}
    rows = [of_program(r, about[r["name"]]) for r in results if r["kind"] == kind]
    if kind == "healthy":
        return table(["program", "what it does", "first finding"], [row[:3] for row in rows])
    return table(["program", "planted cause", "first finding", "predicted", "about", "measured", "held"], rows)


def write(path, results, summary, cases, pairs):
    """Replaces what stands between the marks of the document."""
    parts = {"totals": f"{cpu_model()}; median of {pairs} pairs of runs.\n\n" + totals(results, summary),
             "rules": by_rule(results), "planted": programs(results, cases, "planted"),
             "healthy": programs(results, cases, "healthy")}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, part in parts.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"{path}: no '{begin}' and '{end}'; take the file of docs/ as the start")
        text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _, p=part: f"{begin}\n\n{p}\n\n{end}", text, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
