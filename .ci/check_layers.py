#!/usr/bin/env python3
"""Checks includes between folders (ARCHITECTURE.md), the namespaces of tests (CONTRIBUTING.md), and that no PITWALL_TRY stands in
a braced list (db/try.h): prints file:line, the error and its remedy; exits 1 if there is one."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A list's brace follows a type, a name, '=', '(', ',' or '{'; that of a block ')' or one of these words.
BRACED_TRY = re.compile(r"(?:[=(,{]\s*|(?!\b(?:const|else|do|noexcept|override|try)\b)\b\w+|>)\{(?:[^;{}]*[,{])?[^;{}=]*(?:\.\w+ = )?PITWALL_TRY\(")
STRING_OR_PARENTHESIS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()]')

# Top folder -> top folders whose public headers it may include.
MAY_INCLUDE = {
    "db": set(),
    "runtime": {"db"},
    "analyzer": {"db"},
    "gui": {"db", "analyzer"},
    "samples": {"db", "runtime"},
    "tests": {"db", "runtime", "analyzer", "gui", "samples"},
}
# A subfolder that builds alone -> the files of its own top folder that may include it. It includes no other one of them.
ALONE = {"analyzer/record/": ("analyzer/record/", "analyzer/cli/", "analyzer/tune/")}
# A subfolder -> the other subfolders of its top folder that it may include. Those that are not named here may include any.
BELOW = {
    "analyzer/analysis": set(),
    "analyzer/dependencies": {"analyzer/analysis"},
    "analyzer/critical_path": {"analyzer/analysis", "analyzer/dependencies"},
    "analyzer/tune": {"analyzer/record"},
    "analyzer/simulate": {"analyzer/analysis", "analyzer/dependencies", "analyzer/critical_path"},
    "runtime/file": set(),
    "runtime/graph": {"runtime/array", "runtime/backend", "runtime/file", "runtime/memory", "runtime/operators"},
    "runtime/models": set(),
}
# Header pattern (as written between the brackets) -> the folders that may include it; tests of that stage may too.
CONFINED = [
    (r"sqlite3(ext)?\.h", ("db/sqlite", "tests/bench")),
    (r"(oneapi/dnnl/.*|dnnl.*\.hp?p?)", ("runtime/backend/onednn",)),
    (r"(cupti.*|.*/cupti.*)", ("runtime/profiler/cupti",)),
    (r"(nvtx3/.*|nvToolsExt.*)", ("runtime/profiler/nvtx",)),
    (r"(cuda|cudnn|cublas|nccl|nvrtc|nvml).*\.h", ("runtime/backend/cuda",)),
    (r"(Qt\w*/.*|Q[A-Z]\w*)", ("gui", "tests/bench")),
    (r"(CLI/.*)", ("analyzer/cli", "samples")),
    (r"rapidjson/.*", ("runtime/graph", "tests/bench")),
    (r"mpi\.h", ("runtime/kvstore/mpi", "tests/bench")),
    (r"(jpeglib|jerror|turbojpeg|png)\.h|webp/.*", ("runtime/data/decode", "tests/bench")),
    (r"(toml\+\+/.*|toml\.hpp)", ("analyzer/rules",)),
]
# The contract: usable by anyone, standard library only.
CONTRACT = {"check", "event", "ids", "meta", "result", "settings", "sink", "try", "units"}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
FEATURE_IF = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif)\b.*\bPITWALL_(HAS|WITH)_\w+")
NAMESPACE = re.compile(r"namespace pitwall(::\w+)* \{")
REGISTRY = "runtime/backend/registry.cpp"
# Made by CMake from the files in the source tree.
GENERATED = re.compile(r"runtime/operator_list\.h|runtime/operators/operator_list\.inc|runtime/backend/\w+/kernel_list\.inc")
# Public headers below the top of a folder.
PUBLIC_BELOW = re.compile(r"runtime/operators/\w+\.h")


def public(header):
    return header.count("/") == 1 or PUBLIC_BELOW.fullmatch(header) is not None


def quoted(path, target, is_public):
    """The error of #include "target" in path, or None."""
    own = path.split("/")[0]
    top = target.split("/")[0]
    if top not in MAY_INCLUDE or not (GENERATED.fullmatch(target) or (ROOT / target).is_file()):
        return 'name it from the repository\'s root ("db/store.h"); no such file there'
    if top != own:
        if top not in MAY_INCLUDE[own]:
            return f"{own}/ may include only {', '.join(sorted(MAY_INCLUDE[own])) or 'itself'}; move the code or the type"
        if own != "tests" and not public(target):
            return f"{target} is private to {top}/; include a header of its top folder, or move the declaration there"
    for folder, users in ALONE.items():
        if target.startswith(folder) and own == top and not path.startswith(users):
            return f"{folder} is for {' and '.join(users)} only; use a header at the top of {top}/"
        if path.startswith(folder) and own == top and target.count("/") != 1 and not target.startswith(folder):
            return f"{folder} builds without the rest of {top}/; move what is needed into it"
    own_room, room_of_target = room(path), room(target)
    if top == own and own_room in BELOW and room_of_target not in (None, own_room) and room_of_target not in BELOW[own_room]:
        return f"{own_room}/ may include only {', '.join(sorted(BELOW[own_room])) or 'itself'} of {top}/; move the code or the type"
    if is_public and not public(target):
        return "a public header may include only public ones, else it cannot be installed; forward-declare instead"
    if is_public and own == "db" and pathlib.Path(path).stem in CONTRACT and pathlib.Path(target).stem not in CONTRACT:
        return "the contract's headers include only each other; move what is needed into one of them"
    return None


def angled(path, target, is_public):
    """The error of #include <target> in path, or None."""
    for pattern, homes in CONFINED:
        inside = any(path.startswith((home + "/", "tests/" + home.split("/")[0] + "/")) for home in homes)
        if re.fullmatch(pattern, target) and not inside:
            return f"<{target}> belongs in {' and '.join(homes)} alone; use that folder's interface"
    if is_public and "/" in target and not target.startswith("sys/"):
        return f"<{target}> in a public header would bind every user to that library; hide it in a .cpp"
    return None


def closed(text, start):
    """Where the parenthesis that opens before `start` is closed, strings left out."""
    depth, at = 1, start
    for token in STRING_OR_PARENTHESIS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        at = token.end()
        if depth == 0:
            break
    return at


def braced_tries(text):
    """Lines of PITWALL_TRY as an element of a braced list. A block differs: it has statements, which end in ';'."""
    for match in BRACED_TRY.finditer(text):
        if text[closed(text, match.end()):].lstrip()[:1] in (",", "}"):
            yield text.count("\n", 0, match.end()) + 1


def check(path):
    is_header = path.endswith(".h")
    is_public = is_header and public(path) and not path.startswith(("tests/", "samples/"))
    text = (ROOT / path).read_text(encoding="utf-8")
    if is_header and "#pragma once" not in text:
        yield 1, "add #pragma once"
    for number in braced_tries(text):
        yield number, "PITWALL_TRY in a braced list leaks what the list has made before it; give its value a name first"
    for number, line in enumerate(text.splitlines(), 1):
        if FEATURE_IF.match(line) and path != REGISTRY:
            yield number, f"feature switches belong in {REGISTRY}; register a backend there instead"
        if path.endswith("_test.cpp") and NAMESPACE.match(line) and not line.endswith(f"::{pathlib.Path(path).stem} {{"):
            yield number, "end the namespace in the name of the file: several tests are compiled as one"
        match = INCLUDE.match(line)
        if match:
            kind = quoted if match[1] == '"' else angled
            wrong = kind(path, match[2], is_public)
            if wrong:
                yield number, wrong


def room(path):
    """runtime/engine of runtime/engine/spin.h; None for a file at the top of its folder, a public header, and of tests and samples."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and not PUBLIC_BELOW.fullmatch(path) and parts[0] not in ("tests", "samples") else None


def mutual(paths):
    """(path, line, error) of includes between two subfolders that include each other."""
    includes = {}
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] == '"' and room(path) and room(match[2]) and path.split("/")[0] == match[2].split("/")[0]:
                includes.setdefault((room(path), room(match[2])), []).append((path, number))
    for (a, b), places in sorted(includes.items()):
        if a != b and (b, a) in includes and len(places) <= len(includes[b, a]):
            for path, number in places:
                yield path, number, f"{a} and {b} include each other; move what both need into one of them, or a third"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.cpp"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    paths = [p for p in listed if p.split("/")[0] in MAY_INCLUDE and (ROOT / p).is_file()
             and not p.startswith("tests/package/")]
    wrong = [(path, number, what) for path in paths for number, what in check(path)] + list(mutual(paths))
    for path, number, what in wrong:
        print(f"{path}:{number}: {what}")
    bad = len(wrong)
    print(f"layers: {len(paths)} files, {bad} violations")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
