"""Runs the programs of cases/: records each, compares the report's first finding with what is planted, and the
predicted gain with the one that is measured when the fix is applied. Started by run.sh."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cases as table
import document
import machine
import outcome

NEEDED_FIRST, NEEDED_INSIDE = 0.9, 0.8


def arguments():
    parser = argparse.ArgumentParser(prog="tests/truth/run.sh", description=__doc__)
    parser.add_argument("--build", default=str(table.ROOT / "build/release"), help="build folder [build/release]")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="this case alone, or those whose name begins so; may be repeated")
    parser.add_argument("--kind", choices=table.KINDS, help="planted or healthy cases alone")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each variant for the gain [3]")
    parser.add_argument("--no-gain", action="store_true", help="measure no gain")
    parser.add_argument("--fixed-too", action="store_true", help="record the fix as well: the cause must be gone")
    parser.add_argument("--timeless", action="store_true", help="cases alone whose answer does not depend on time")
    parser.add_argument("--ignore-load", action="store_true",
                        help="leave out what is said about other programs, to try cases on a busy machine")
    parser.add_argument("--scale", type=float, default=1, help="factor on how long the programs run [1]")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--document", metavar="FILE", help="write the tables into this file too, such as docs/truth.md")
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    parser.add_argument("--check", action="store_true", help="check the table and end")
    parser.add_argument("--no-build", action="store_true", help="build nothing first")
    parser.add_argument("--pitwall", help="the command to judge [BUILD/bin/pitwall]")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the traces and reports here")
    return parser.parse_args()


class Runner:
    """Runs one case's program in its folder, recorded or not."""

    def __init__(self, options, folder):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.folder = folder
        self.pitwall = str(pathlib.Path(options.pitwall or self.build / "bin/pitwall").resolve())

    def places(self, case):
        blas = machine.openblas(str(self.build)) if "openblas" in case.needs else None
        reference = machine.reference_blas()
        return {"python": machine.PYTHON, "programs": str(table.FOLDER / "programs"), "folder": str(self.folder),
                "truth": str(self.build / "bin/truth"), "samples": str(self.build / "bin/samples"),
                "train_lenet": str(self.build / "bin/train_lenet"), "openblas": str(blas), "reference": str(reference),
                "cpus": str(len(machine.os.sched_getaffinity(0))),
                "many": str(8 * len(machine.os.sched_getaffinity(0)))}

    def fill(self, case, word):
        for name, place in self.places(case).items():
            word = word.replace("{" + name + "}", place)
        return word

    def command_of(self, case, variant):
        words = [*case.command, *variant.get("args", [])]
        words = [w.replace("{seconds}", f"{case.seconds * self.options.scale:g}") for w in words]
        return [self.fill(case, w) for w in words]

    def environment_of(self, case, variant):
        environment = machine.clean_environment()
        environment.update({k: self.fill(case, v) for k, v in (case.env | variant.get("env", {})).items()})
        return environment

    def run(self, case, variant, before=(), env=None, after=()):
        """Runs it; (exit code, seconds, items a second or None, what it printed)."""
        environment = self.environment_of(case, variant)
        environment.update(env or {})
        begin = time.monotonic()
        done = subprocess.run([*before, *self.command_of(case, variant), *after], cwd=self.folder, env=environment,
                              capture_output=True, text=True, errors="replace", timeout=300, check=False)
        seconds = time.monotonic() - begin
        rate = next((float(line.split()[1]) for line in done.stdout.splitlines()
                     if line.startswith("items_per_second ")), None)
        return done.returncode, seconds, rate, done.stdout + done.stderr

    def report(self, case, variant, name):
        """Records the program and analyses the trace: the report, or a text why there is none."""
        machine.warm(case.needs)
        trace = self.folder / f"{name}.pitwall"
        with machine.Burners(variant.get("burners", case.burners)):
            if case.recorder == "record":
                before = [self.pitwall, "record", "-q", "-o", str(trace), *case.options, "--"]
                code, _, _, printed = self.run(case, variant, before=before)
            elif case.recorder == "runtime":
                code, _, _, printed = self.run(case, variant, env={"PITWALL_TRACE": str(trace)})
            else:
                trace = self.folder / f"{name}.json"
                code, _, _, printed = self.run(case, variant, after=["--trace", str(trace)])
        expected = variant.get("exit_code", case.exit_code)
        if code != expected:
            return f"ended with {code} instead of {expected}: {printed.strip()[-300:]}"
        analysed = subprocess.run([self.pitwall, "analyze", str(trace), "--no-env", "--format", "json"],
                                  capture_output=True, text=True, check=False, env=machine.clean_environment())
        if analysed.returncode != 0:
            return f"analyze ended with {analysed.returncode}: {analysed.stderr.strip()[-300:]}"
        report = json.loads(analysed.stdout)
        if self.options.ignore_load and not any(rule.startswith("host/") for rule in case.first):
            report["findings"] = [f for f in report["findings"] if not f["id"].startswith("host/")]
        return report

    def measured_gain(self, case):
        """The share of time that the fix removes: the median over pairs of runs, slow and fixed in turn."""
        gains = []
        for pair in range(self.options.pairs):
            both = {}
            for variant in ("slow", "fixed") if pair % 2 == 0 else ("fixed", "slow"):
                settings = getattr(case, variant)
                with machine.Burners(settings.get("burners", case.burners)):
                    code, seconds, rate, printed = self.run(case, settings)
                if code != settings.get("exit_code", case.exit_code):
                    return f"the {variant} variant ended with {code}: {printed.strip()[-300:]}"
                both[variant] = 1 / rate if rate else seconds
            gains.append(1 - both["fixed"] / both["slow"])
        return statistics.median(gains)


def chosen(options, cases):
    for case in cases:
        if options.only and not any(case.name.startswith(name) for name in options.only):
            continue
        if options.kind and case.kind != options.kind or options.timeless and not case.timeless:
            continue
        yield case


def run_case(options, case):
    lacking = [why for why in (machine.missing(n, str(pathlib.Path(options.build).resolve())) for n in case.needs) if why]
    if lacking:
        return outcome.Outcome(case, skipped="; ".join(lacking))
    with tempfile.TemporaryDirectory(prefix="truth_", dir=options.keep) as folder:
        runner = Runner(options, pathlib.Path(folder))
        try:
            result = outcome.judge(case, runner.report(case, case.slow, case.name))
            if options.fixed_too and case.fixed and not (options.ignore_load and case.fixed_needs_quiet):
                result.add_fixed(runner.report(case, case.fixed, case.name + "_fixed"))
            if case.gain and not options.no_gain and not result.failed:
                result.add_gain(runner.measured_gain(case))
        except subprocess.TimeoutExpired:
            return outcome.Outcome(case, failed="ran for more than 300 s")
        if options.keep:
            for trace in pathlib.Path(folder).glob(f"{case.name}*"):
                trace.rename(pathlib.Path(options.keep) / trace.name)
    return result


def main():
    options = arguments()
    cases = table.read()
    if options.check:
        found = list(table.mistakes(cases))
        print("\n".join(found) or f"{len(cases)} cases, no mistake")
        return 1 if found else 0
    picked = list(chosen(options, cases))
    if options.list:
        for case in picked:
            print(f"{case.kind:8} {case.name:32} {case.about}")
        return 0
    if not picked:
        print("no case has that name; --list names them", file=sys.stderr)
        return 2
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    results = []
    for case in picked:
        if sys.stderr.isatty():
            print(f"\r\033[K{case.name} ...", end="", file=sys.stderr, flush=True)
        results.append(run_case(options, case))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    summary = outcome.summary(results)
    as_dicts = [r.as_dict() for r in results]
    if options.document:
        document.write(options.document, as_dicts, summary, cases, options.pairs)
    if options.json:
        print(json.dumps({"cases": as_dicts, "summary": summary}, indent=1))
    else:
        print(outcome.text_table(results))
        print(outcome.summary_text(summary))
    return 0 if outcome.is_good(summary, NEEDED_FIRST, NEEDED_INSIDE) else 1


if __name__ == "__main__":
    sys.exit(main())
