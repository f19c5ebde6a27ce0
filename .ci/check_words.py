#!/usr/bin/env python3
"""Checks the wording of code, comments, rules and documents: prints file:line, the term and its replacement; exits 1 if any.

CONTRIBUTING.md says why; docs/glossary.md defines the terms that replace them.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A part of the term in lower case (for speed), its regular expression, replacement, and paths (regular expressions) in which
# the word has another meaning.
TERMS = [
    ("waist", r"\bwaist\b", "shared core", ()),
    ("tell", r"\b[Tt]ells?\b", "give, report, name, say; distinguish", ()),
    ("told", r"\b[Tt]old\b", "given, reported, specified; distinguished; not told: unknown", ()),
    ("promised", r"\b[Pp]romised\b", "predicted; counted twice", ()),
    ("mend", r"\b[Mm]end(?:s|ed|ing)?\b", "repair, fix", ()),
    ("held against", r"\bheld against\b", "compared with", ()),
    ("hearing", r"\bhearing\b", "listener", ()),
    ("recordingtap", r"RecordingTap", "RecordingListener", ()),
    ("adoption", r"\bAdoption\b|\badoption\.(?:h|cpp)\b", "row import", ()),
    ("builder_rounds", r"\bbuilder_rounds\b", "builder_flush", ()),
    ("_walk", r"_walk\b", "_section", ()),
    ("roof", r"\b[Rr]oofs?\b(?!\.|-)|Roof(?!line)", "roofline; ceiling for one resource", ()),
    ("probe", r"\banalysis_probe\b|\b[Bb]atch_?[Pp]robes?\b", "thread trial, batch trial", ()),
    ("slice", r"\b[Ss]lices?\b", "time window, time chunk", (r"db/settings/", r"analyzer/record/sample/", r"docs/settings\.md", r"tests/analyzer/record/", r"runtime/graph/", r"tests/runtime/graph/")),
    ("goon", r"\bgoOn\b", "checkCancelled", ()),
    ("complain", r"\bcomplain(?:s|ed)?\b", "report an error", ()),
    ("for what there is", r"\bfor what there is\b", "for usage", ()),
    ("surer", r"\bsurer\b", "narrower interval", ()),
    ("by the clock", r"\bby the clock\b", "elapsed, wall-clock time", ()),
    (" own", r"\bof (?:its|their|our|your|his) own\b(?=[.,;:)\"]|$| (?:and|that|which|with|it|can|each)\b)", "its own ..., separate", ()),
    ("none of its business", r"\bnone of its business\b", "does not concern it", ()),
    ("nobody", r"\b[Nn]obody\b", "no one, no thread, no user", (r"tests/db/sqlite/unwritable_test",)),  # there a user of the system
    ("somebody", r"\b[Ss]omebody\b", "someone, a user", ()),
    ("out", r"\bhands? out\b", "returns, assigns", ()),
    ("in vain", r"\bin vain\b", "without success", ()),
    ("the like", r"\b(?:and|or) the like\b", "such as, similar", ()),
    ("whence", r"\bwhence\b", "from where", ()),
    ("second opinion", r"\bsecond opinion\b", "independent check", ()),
    (" lie", r"\b(?:lies|lie)\b", "is, are", ()),
    (" lay", r"\blay\b", "was, were", ()),
    ("at hand", r"\bat hand\b", "given, analysed, recorded", ()),
    ("from here on", r"\bfrom here on\b", "at or above this value", (r"analyzer/record/",)),
    ("worth a word", r"\bworth a word\b", "worth reporting", ()),
]
# Not checked: path (regular expression), reason.
EXEMPT = [
    (r"CHANGELOG\.md", "history"),
    (r"docs/adr/", "history"),
    (r"tests/truth/", "an independent reimplementation with its own terms"),
    (r"tests/fuzz/corpus/", "input"),
    (r"\.ci/check_words\.py", "holds the terms"),
]
# Names that files, users and other tools depend on, and former names that remain readable.
KEPT = re.compile(r"\banalysis_probe\b|\bprobe\.openmp_threads\b|\broof_(?:share|flop_per_second|bytes_per_second)\b|\broof\.\w"
                  r"|MXNET_KVSTORE_SLICE_THRESHOLD")
TEXT = (".h", ".cpp", ".md", ".toml", ".py", ".sh", ".sql", ".cmake", ".txt", ".json", ".expected", ".in", ".xml", ".desktop")
COMPILED = [(part, re.compile(term, re.M), replacement, [re.compile(p) for p in paths]) for part, term, replacement, paths in TERMS]
EXAMPLE = re.compile(r"^```.*?^```", re.S | re.M)


def blanked(match):
    """As many lines without text."""
    return re.sub(r"[^\n]", " ", match[0])


def check(path):
    """(line, term, replacement) of each term in the file and its name; example output in documents is skipped."""
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    lower = text.lower()
    found = [entry for entry in COMPILED if entry[0] in lower]
    if found:
        text = KEPT.sub(blanked, text)
        if path.endswith(".md"):
            text = EXAMPLE.sub(blanked, text)
    for _, term, replacement, elsewhere in COMPILED:
        match = term.search(path)
        if match and not any(p.match(path) for p in elsewhere):
            yield 1, match[0], replacement
    for _, term, replacement, elsewhere in found:
        if any(p.match(path) for p in elsewhere):
            continue
        for match in term.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0], replacement


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout.splitlines()
    exempt = [re.compile(p) for p, _ in EXEMPT]
    paths = [p for p in listed if p.endswith(TEXT) and (ROOT / p).is_file() and not any(e.match(p) for e in exempt)]
    bad = 0
    for path in paths:
        for line, term, replacement in check(path):
            print(f"{path}:{line}: '{term}': write {replacement}")
            bad += 1
    print(f"words: {len(paths)} files, {bad} terms to replace")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
