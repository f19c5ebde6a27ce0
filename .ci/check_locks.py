#!/usr/bin/env python3
"""check_locks.py [BUILD_FOLDER]: Clang's thread-safety analysis of each source file that sees a lock.

Parses, with the include paths and definitions of BUILD_FOLDER (build/release), the files that take a lock, and those
that include a header with a guarded member, directly or through their own header. Prints Clang's errors; exits 1 if
there is one.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOCKS = "db/mutex.h"
FOLDERS = ("db/", "runtime/", "analyzer/", "gui/")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ANNOTATED = re.compile(r"\bPITWALL_(PT_)?(GUARDED_BY|REQUIRES|ACQUIRE)\b|\bScopedLock\b")
# Parsed once for all files: half of the time.
PRELUDE = ("algorithm", "array", "atomic", "chrono", "condition_variable", "deque", "fmt/format.h", "functional", "map", "memory", "mutex",
           "optional", "span", "string", "thread", "unordered_map", "variant", "vector")
CLANG = [os.environ.get("CLANGXX", "clang++-14"), "-std=c++20"]
# std::mutex has no annotations: Clang would not see what it guards.
UNCHECKED = re.compile(r"\bstd::((recursive_|shared_|timed_)*mutex|condition_variable(_any)?|(scoped|unique|shared)_lock|lock_guard)\b")


# Clang must report this one, else it does not see the annotations.
PROBE = """#include "db/mutex.h"
struct Probe {
  void use() { ++member; }
  pitwall::Mutex mutex;
  int member PITWALL_GUARDED_BY(mutex) = 0;
};
"""


def text_of(path):
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def sees_locks(path):
    """Whether the source file takes a lock, or sees a member that one guards."""
    own_header = path.removesuffix(".cpp") + ".h"
    included = INCLUDE.findall(text_of(path)) + INCLUDE.findall(text_of(own_header))
    return any(ANNOTATED.search(text_of(seen)) for seen in [path, *included] if seen != LOCKS)


def sources(build):
    """(file, folder of the build, arguments for Clang) of each source file of the program, without tests."""
    database = ROOT / build / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"{build}/compile_commands.json: no such file; configure first: cmake --preset release")
    seen = set()
    for entry in json.loads(database.read_text(encoding="utf-8")):
        path = os.path.relpath(entry["file"], ROOT)
        if path in seen or not path.startswith(FOLDERS):
            continue
        seen.add(path)
        words = entry["command"].split()
        kept = []
        for word, following in zip(words, words[1:] + [""]):
            if word.startswith(("-I", "-D")):
                kept.append(word.replace("\\", ""))
            elif word in ("-isystem", "-include"):
                kept += [word, following]
        yield ROOT / path, entry["directory"], kept


def precompile(folder):
    """The prelude as Clang reads it fastest, in the folder."""
    prelude = pathlib.Path(folder) / "prelude"
    prelude.write_text("".join(f"#include <{name}>\n" for name in PRELUDE), encoding="utf-8")
    subprocess.run([*CLANG, "-DNDEBUG", "-DFMT_SHARED", "-x", "c++-header", prelude, "-o", f"{prelude}.pch"], check=True)
    return f"{prelude}.pch"


def check(file, folder, arguments, prelude):
    # A file's own definitions do not concern the prelude, which Clang would else refuse for them.
    command = [*CLANG, "-Xclang", "-include-pch", "-Xclang", prelude, "-Xclang", "-fno-validate-pch", "-fsyntax-only",
               "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety", *arguments, str(file)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build/release"
    files = [source for source in sources(build) if sees_locks(os.path.relpath(source[0], ROOT))]
    bad = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        prelude = precompile(folder)
        probe = pathlib.Path(folder) / "probe.cpp"
        probe.write_text(PROBE, encoding="utf-8")
        if "requires holding mutex 'mutex'" not in check(probe, folder, [f"-I{ROOT}"], prelude).stderr:
            print(f"{LOCKS}: {CLANG[0]} does not report an unguarded access")
            bad += 1
        for result in pool.map(lambda source: check(*source, prelude), files):
            bad += result.returncode != 0
            print(result.stderr, end="")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.cpp"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    for path in listed:
        if path == LOCKS or not path.startswith(FOLDERS):
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            match = UNCHECKED.search(line.split("//")[0])
            if match:
                print(f"{path}:{number}: {match[0]} has no annotations that Clang checks; use {LOCKS}")
                bad += 1
    print(f"locks: {len(files)} files, {bad} with errors")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
