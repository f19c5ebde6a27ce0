"""What a report says about a program, against what is known about it; and the table of all."""

import dataclasses
import fnmatch

# A measured gain this far outside an interval is within what runs of a few seconds vary by.
TOLERANCE = 0.02
# An information is no advice and raises no alarm.
ALARMS = ("low", "medium", "high")


@dataclasses.dataclass
class Outcome:
    """Of one case. `failed` says why there is no answer, `skipped` why it was not run."""
    case: object
    failed: str = ""
    skipped: str = ""
    findings: list = dataclasses.field(default_factory=list)
    is_right: bool = False
    false_alarms: list = dataclasses.field(default_factory=list)
    predicted: tuple = None
    estimated: float = None
    measured: float = None
    still_there: list = dataclasses.field(default_factory=list)

    @property
    def first(self):
        return self.findings[0][0] if self.findings else "none"

    @property
    def is_inside(self):
        """Whether the interval holds the measured gain; None where there is no such question."""
        if self.predicted is None or self.measured is None:
            return None
        low, high = self.predicted
        return low - TOLERANCE <= self.measured <= high + TOLERANCE

    def add_fixed(self, report):
        """The findings that the planted cause explains must be gone when it is, or predict half as much at most: what is
        left of it may be true, as of a loader whose workers keep the training thread waiting a little."""
        if isinstance(report, str):
            self.failed = "fixed: " + report
            return
        most = self.predicted[1] / 2 if self.predicted else 0
        self.still_there = [f["id"] for f in report["findings"] if f["severity"] in ALARMS and f["id"] in self.case.first
                            and not (f["gain"] and f["gain"]["high"] and f["gain"]["high"] <= most)]

    def add_gain(self, gain):
        if isinstance(gain, str):
            self.failed = gain
        else:
            self.measured = gain

    def as_dict(self):
        return {"name": self.case.name, "kind": self.case.kind, "failed": self.failed, "skipped": self.skipped,
                "expected": self.case.first, "findings": [list(f) for f in self.findings], "right": self.is_right,
                "false_alarms": self.false_alarms, "predicted": self.predicted, "estimated": self.estimated, "measured": self.measured,
                "inside": self.is_inside, "still_there_when_fixed": self.still_there}


def allowed(case, rule):
    return any(fnmatch.fnmatchcase(rule, pattern) for pattern in case.allowed)


def judge(case, report):
    """Compares a report, or the text why there is none, with what the case expects."""
    if isinstance(report, str):
        return Outcome(case, failed=report)
    result = Outcome(case, findings=[(f["id"], f["severity"]) for f in report["findings"]])
    if case.kind == "planted":
        result.is_right = result.first in case.first
        result.false_alarms = [i for i, severity in result.findings if severity in ALARMS and i in case.never]
        gain = next((f["gain"] for f in report["findings"] if f["id"] in case.first), None)
        if case.gain and gain is not None and gain["high"] is not None and gain["high"] > 0:
            result.predicted = (gain["low"], gain["high"])
            result.estimated = gain["estimate"]
    else:
        result.false_alarms = [i for i, severity in result.findings if severity in ALARMS and not allowed(case, i)]
        result.is_right = not result.false_alarms
    return result


def summary(results):
    ran = [r for r in results if not r.skipped]
    planted = [r for r in ran if r.case.kind == "planted"]
    asked = [r for r in planted if r.is_inside is not None]
    return {"planted": len(planted), "first_right": sum(r.is_right for r in planted),
            "healthy": sum(r.case.kind == "healthy" for r in ran),
            "false_alarms": sum(len(r.false_alarms) for r in ran if r.case.kind == "healthy"),
            "false_beside_planted": sum(len(r.false_alarms) for r in planted),
            "intervals": len(asked), "inside": sum(r.is_inside for r in asked),
            "without_interval": sum(r.case.gain and r.predicted is None for r in planted),
            "still_there_when_fixed": sum(bool(r.still_there) for r in planted),
            "failed": sum(bool(r.failed) for r in ran), "skipped": len(results) - len(ran)}


def is_good(totals, needed_first, needed_inside):
    return (totals["failed"] == 0 and totals["false_alarms"] == 0 and totals["false_beside_planted"] == 0
            and totals["still_there_when_fixed"] == 0
            and totals["first_right"] >= needed_first * totals["planted"]
            and totals["inside"] >= needed_inside * totals["intervals"])


def percent(value):
    return f"{100 * value:.0f} %"


def row(result):
    if result.skipped or result.failed:
        why = "skipped: " + result.skipped if result.skipped else "FAILED: " + " ".join(result.failed.split())
        return [result.case.name, why[:100], "", "", "", "", ""]
    predicted = "" if result.predicted is None else f"{percent(result.predicted[0])} to {percent(result.predicted[1])}"
    inside = {None: "", True: "yes", False: "NO"}[result.is_inside]
    right = "yes" if result.is_right else "NO" if result.case.kind == "healthy" else "NO: " + " or ".join(result.case.first)
    return [result.case.name, result.first, right, ", ".join(result.false_alarms + [f"fixed: {i}" for i in result.still_there]),
            predicted, "" if result.measured is None else percent(result.measured), inside]


def text_table(results):
    rows = [["case", "first finding", "right?", "false alarms", "predicted", "measured", "inside?"]]
    for kind in ("planted", "healthy"):
        rows += [row(r) for r in results if r.case.kind == kind]
    widths = [max(len(r[i]) for r in rows if not r[1].startswith(("skipped", "FAILED"))) for i in range(7)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(r, widths)).rstrip() for r in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def summary_text(s):
    def of(part, all_of):
        return f"{part} of {all_of}" + (f" ({percent(part / all_of)})" if all_of else "")
    lines = [f"first finding right    {of(s['first_right'], s['planted'])}, 90 % needed",
             f"false alarms           {s['false_alarms']} on {s['healthy']} healthy programs, 0 needed; "
             f"{s['false_beside_planted']} beside a planted cause",
             f"intervals that cover   {of(s['inside'], s['intervals'])}, 80 % needed; "
             f"{s['without_interval']} without an interval"]
    if s["still_there_when_fixed"]:
        lines.append(f"still there when fixed {s['still_there_when_fixed']}")
    if s["failed"] or s["skipped"]:
        lines.append(f"failed {s['failed']}, skipped {s['skipped']}")
    return "\n" + "\n".join(lines)
