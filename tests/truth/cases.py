"""Reads cases/, the table of programs, and checks that it is whole."""

import dataclasses
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
KINDS = ("planted", "healthy")
RECORDERS = ("record", "runtime", "profiler")
NEEDS = ("numpy", "torch", "openblas", "reference blas", "two cpus", "jpeg", "mpi")


@dataclasses.dataclass
class Case:
    """One program, with its planted cause or healthy. `slow` and `fixed` are arguments and environment that differ."""
    name: str
    kind: str
    command: list
    about: str
    source: str = "command line"
    recorder: str = "record"
    options: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    slow: dict = dataclasses.field(default_factory=dict)
    fixed: dict = dataclasses.field(default_factory=dict)
    first: list = dataclasses.field(default_factory=list)
    never: list = dataclasses.field(default_factory=list)
    allowed: list = dataclasses.field(default_factory=list)
    gain: bool = False
    timeless: bool = False
    fixed_needs_quiet: bool = False
    needs: list = dataclasses.field(default_factory=list)
    burners: int = 0
    seconds: float = 3
    exit_code: int = 0


FILES = ("openmp", "cpp", "python", "torch", "runtime", "executor", "input", "healthy")


def read():
    """All cases, in the order of the files."""
    cases = []
    for name in FILES:
        with open(FOLDER / "cases" / f"{name}.toml", "rb") as file:
            cases += [Case(**row) for row in tomllib.load(file)["case"]]
    return cases


def rule_ids():
    """Every rule in rules/, as the command would name it."""
    ids = set()
    for path in (ROOT / "rules").glob("*/*.toml"):
        match = re.search(r'^id = "([^"]+)"', path.read_text(encoding="utf-8"), re.M)
        if match:
            ids.add(match[1])
    return ids


def program_of(case):
    """The source file of the case's program."""
    for word in case.command:
        if word.startswith("{programs}/"):
            return FOLDER / "programs" / word.removeprefix("{programs}/")
        if word.startswith("{truth}/"):
            return FOLDER / "programs" / (word.removeprefix("{truth}/") + ".cpp")
        if word.startswith("{samples}/"):
            return ROOT / "samples" / "slow" / (word.removeprefix("{samples}/") + ".cpp")
        if word == "{train_lenet}":
            return ROOT / "samples" / "train_lenet.cpp"
    return None


def mistakes_of(case, ids):
    """What is wrong with one row."""
    if case.kind not in KINDS:
        yield f"kind is '{case.kind}'"
    if case.recorder not in RECORDERS:
        yield f"recorder is '{case.recorder}'"
    source = program_of(case)
    if source is None or not source.is_file():
        yield f"there is no program {source}"
    for rule in [*case.first, *case.never, *(a for a in case.allowed if not a.endswith("/*"))]:
        if rule not in ids:
            yield f"there is no rule '{rule}'"
    for need in case.needs:
        if need not in NEEDS:
            yield f"needs '{need}', which no one checks"
    if "{openblas}" in str([case.env, case.slow, case.fixed]) and "openblas" not in case.needs:
        yield "uses {openblas} and does not need openblas"
    if case.kind == "planted" and not case.first:
        yield "planted, but no finding is expected"
    if case.kind == "planted" and not (case.fixed.keys() & {"args", "env"}) and case.fixed.get("burners") is None:
        yield "planted, but there is no fix"
    if case.kind == "healthy" and (case.first or case.fixed or case.gain):
        yield "healthy, but a finding, a fix or a gain is expected"
    if set(case.first) & set(case.never):
        yield "a rule is expected and forbidden at once"


def mistakes(cases):
    """Every mistake of the table, as text."""
    ids = rule_ids()
    for case in cases:
        for text in mistakes_of(case, ids):
            yield f"{case.name}: {text}"
    names = [case.name for case in cases]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield f"{name}: stands twice"
    used = {program_of(case) for case in cases}
    for path in sorted((FOLDER / "programs").iterdir()):
        if path.suffix in (".cpp", ".py", ".sh") and path.name != "program.py":
            if path not in used:
                yield f"{path.name}: no case runs it"
    for kind, at_least in (("planted", 30), ("healthy", 12)):
        count = sum(case.kind == kind for case in cases)
        if count < at_least:
            yield f"{count} {kind} cases, at least {at_least} are needed"
