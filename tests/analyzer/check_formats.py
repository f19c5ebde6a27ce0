#!/usr/bin/env python3
"""Runs `pitwall` on a small trace and checks what it writes for other programs: the published JSON schemas, SARIF's
required members, HTML that is well-formed, asks no network and permits no script but its own, and Chrome JSON under a strict
parser."""

import base64
import hashlib
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile

COMMAND, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def validate(value, schema, where="$"):
    """The part of JSON Schema that our schemas use; members that a schema does not name are mistakes too."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    assert not types or any(is_type(value, t) for t in types), f"{where}: {value!r} is no {types}"
    assert "const" not in schema or value == schema["const"], f"{where}: {value!r}"
    assert "enum" not in schema or value in schema["enum"], f"{where}: {value!r} is not one of {schema['enum']}"
    if is_type(value, "number"):
        assert value >= schema.get("minimum", value) and value <= schema.get("maximum", value), f"{where}: {value}"
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            assert name in value, f"{where}: {name} is missing"
        for name, member in value.items():
            assert name in known or "additionalProperties" in schema, f"{where}: {name} is not in the schema"
            validate(member, known.get(name, schema.get("additionalProperties")), f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            validate(item, schema["items"], f"{where}[{i}]")


def strict(text):
    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    def unique(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), f"a member twice: {pairs}"
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


class Page(html.parser.HTMLParser):
    VOID = {"meta", "br", "link", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.charts = [], 0

    def handle_starttag(self, tag, attrs):
        assert tag not in ("link", "img", "iframe"), tag
        assert tag != "script" or "src" not in dict(attrs), "a script from outside"
        for name, value in attrs:
            assert "://" not in (value or ""), f"{tag} {name}={value} asks the network"
            assert not name.startswith("on"), f"{tag} {name}: a script"
        self.charts += tag == "svg"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def make_trace(path, step):
    """Twelve training steps of two operators with a wait for data, as a Kineto file."""
    events = []
    for i in range(12):
        at = 1000 + i * step
        events.append(f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{i}","pid":1,"tid":1,"ts":{at},"dur":{step}}}')
        for name, start, length in (("aten::mm", 10, 400), ('aten::<b>relu & \\"co\\"', 420, 200 + i % 3)):
            events.append(f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{at + start},"dur":{length}}}')
        events.append(f'{{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#next","pid":1,"tid":1,'
                      f'"ts":{at + 650},"dur":{step - 700}}}')
    path.write_text('{"schemaVersion":1,"traceEvents":[\n' + ",\n".join(events) + "]}")


def make_stacks(path):
    """A thread with 20 samples of two functions, the first ten before its first iteration, as Pitwall exports them."""
    def record(table, **args):
        return {"ph": "M", "name": "pitwall_" + table, "args": {"version": 1, **args}}

    events = [
        record("trace", format=1, first_ns=0, last_ns=400_000_000, correlations=0),
        record("process", id=1, pid=7, process_name="python3", command_line="", rank=0),
        record("thread", id=1, process=1, tid=7, thread_name="python3"),
        record("track", id=1, kind="counter", process=1, thread=1, device=0, track_name="stack", unit="stack"),
        record("frame", id=1, function="<module>", file="/p/train.py", line=3, language="python"),
        record("frame", id=2, function="step", file="/p/train.py", line=9, language="python"),
        record("frame", id=3, function="sleeping", file="", line=0, language="state"),
        record("stack", id=1, caller=0, frame=1),
        record("stack", id=2, caller=1, frame=2),
        record("stack", id=3, caller=2, frame=3),
    ]
    events += [{"ph": "C", "name": "stack", "pid": 7, "tid": 1, "ts": i * 10_000, "args": {"value": (1, 2, 3)[i // 10]}}
               for i in range(30)]
    events += [{"ph": "X", "cat": "iteration", "name": f"iteration {i}", "pid": 7, "tid": 0, "ts": (i + 1) * 100_000,
                "dur": 100_000, "args": {"iteration": i, "items": 1}} for i in range(3)]
    path.write_text(json.dumps({"traceEvents": events}))


def run(*arguments, code=0):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_sql(trace, report):
    """What a finding's SQL yields when a user runs it: the rows that the finding shows; and as printed, in a shell."""
    assert any(finding["evidence"]["total_rows"] > 0 for finding in report["findings"]), "no finding with evidence"
    for finding in report["findings"]:
        assert len(strict(run("query", trace, finding["sql"]["measure"], "--format", "json"))) >= 1, finding["id"]
        if finding["sql"]["evidence"]:
            rows = strict(run("query", trace, finding["sql"]["evidence"], "--format", "json"))
            assert len(rows) == finding["evidence"]["total_rows"], finding["id"]
            for row, shown in zip(rows, finding["evidence"]["rows"]):
                visible = {key: value for key, value in row.items() if not key.startswith("at_")}  # at_...: the row's place
                assert set(visible) == set(shown), finding["id"]
                assert all(shown[key] == value for key, value in visible.items() if isinstance(value, str)), finding["id"]
    printed = run("analyze", trace, "--no-env", "--sql")
    assert "pitwall query" not in run("analyze", trace, "--no-env")
    commands = [part.split("\n   Evidence by")[0].split("\n\n")[0] for part in printed.split("   Found by\n")[1:]]
    assert len(commands) == len(report["findings"])
    for command, finding in zip(commands, report["findings"]):
        line = command.strip().replace("pitwall query", COMMAND + " query", 1) + " --format json"
        done = subprocess.run(line, shell=True, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert strict(done.stdout) == strict(run("query", trace, finding["sql"]["measure"], "--format", "json"))


def check_page(text):
    """The page is small, permits its own script alone, and its data is JSON that cannot end the script element."""
    assert len(text.encode()) < 2_000_000
    script = text[text.rindex("<script>") + len("<script>"):text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text, "the script is not the one that the page permits"
    for address in ("src=", "@import", "url(", "http:", "https:", "fetch("):
        assert address not in text, f"the page refers to something outside: {address}"
    if 'id="timeline-data">' in text:
        data = strict(text.split('id="timeline-data">')[1].split("</script>")[0])
        assert data["rows"] and data["windows"] and data["home"][0] < data["home"][1] <= data["length"]
        assert any("<b>relu" in item[0] for item in data["items"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a, b = folder / "a.json", folder / "b.json"
        make_trace(a, 2000)
        make_trace(b, 4000)

        report = strict(run("analyze", a, "--no-env", "--format", "json"))
        validate(report, strict((ROOT / "docs/report.schema.json").read_text()))
        assert report["breakdown"]["iterations"] > 5 and report["operators"], "the trace was not understood"

        check_sql(a, report)

        stacks = folder / "stacks.json"
        make_stacks(stacks)
        report = strict(run("analyze", stacks, "--no-env", "--format", "json"))
        validate(report, strict((ROOT / "docs/report.schema.json").read_text()))
        assert [row["function"] for row in report["code"]["functions"]] == ["step", "<module>"], report["code"]
        assert report["code"]["startup"][0]["total_ns"] == 100_000_000, report["code"]
        stacks.unlink()
        report = strict(run("analyze", a, "--no-env", "--format", "json"))

        sarif = strict(run("analyze", a, "--no-env", "--format", "sarif"))
        assert sarif["version"] == "2.1.0" and len(sarif["runs"]) == 1
        driver = sarif["runs"][0]["tool"]["driver"]
        assert driver["name"] == "Pitwall"
        for result in sarif["runs"][0]["results"]:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
            assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert len(sarif["runs"][0]["results"]) == len(report["findings"])

        for arguments in (("analyze", a, "--no-env"), ("compare", a, b)):
            page = Page()
            text = run(*arguments, "--format", "html")
            page.feed(text)
            check_page(text)
            assert ("timeline-data" in text.split("<script>")[0]) == (arguments[0] == "analyze")
            assert page.open == [] and page.charts >= 1, f"{page.open} {page.charts}"
            assert "<b>relu" not in text and "aten::&lt;b&gt;relu" in text or arguments[0] == "compare"
            markdown = run(*arguments, "--format", "markdown")
            assert markdown.startswith("# Pitwall") and "<b>" not in markdown.replace("\\<b", "")

        comparison = strict(run("compare", a, b, "--format", "json"))
        validate(comparison, strict((ROOT / "docs/comparison.schema.json").read_text()))
        assert abs(comparison["iteration"]["change"] - 1.0) < 0.02 and comparison["iteration"]["significant"]
        run("compare", a, b, "--fail-on-regression", "5", code=5)
        run("compare", a, b, "--fail-on-regression", "120")
        run("compare", b, a, "--fail-on-regression", "5")
        run("compare", a, a, "--fail-on-regression", "0")

        # Several runs a side: a table of runs, rows with intervals.
        sides = [[], []]
        for i in range(3):
            for side, step in ((0, 2000), (1, 2600)):
                sides[side].append(folder / f"{'ab'[side]}{i}.json")
                make_trace(sides[side][-1], step + 10 * i)
        several = (*sides[0], "--", *sides[1])
        comparison = strict(run("compare", *several, "--format", "json"))
        validate(comparison, strict((ROOT / "docs/comparison.schema.json").read_text()))
        assert comparison["iteration"]["basis"] == "runs" and comparison["iteration"]["significant"]
        assert [row["side"] for row in comparison["runs"]] == ["A"] * 3 + ["B"] * 3
        assert any(row["differs"] for row in comparison["breakdown"]), comparison["breakdown"]
        assert not any(row["differs"] for row in comparison["work"]), "only the wait for data grew"
        for text_format in ("html", "markdown"):
            assert "slower" in run("compare", *several, "--format", text_format)
        run("compare", "--fail-on-regression", "5", *several, code=5)
        run("compare", *several, "--fail-on-regression", "50")
        run("compare", *sides[0], code=2)  # which are before, which after?
        run("compare", *sides[0], "--", code=2)
        run("compare", sides[0][0], "--", sides[1][0], "--", sides[1][1], code=2)
        run("compare", sides[0][0], sides[0][0], "--", *sides[1], code=2)  # a run counts once
        # One run each that looks slower by 10 %: undecided, which is neither a pass nor a regression.
        slightly = folder / "slightly.json"
        make_trace(slightly, 2200)
        run("compare", a, slightly, "--fail-on-regression", "5", code=6)
        run("compare", a, slightly, "--fail-on-regression", "20")
        for path in (slightly, *sides[0], *sides[1]):
            path.unlink()

        for trace in (a, b):
            document = strict(run("export", trace, "-o", "-"))
            assert any(event["ph"] == "X" for event in document["traceEvents"])
            strict(run("export", trace, "--format", "mxnet", "-o", "-"))
        assert sorted(p.name for p in folder.iterdir()) == ["a.json", "b.json"], "something was left behind"


main()
