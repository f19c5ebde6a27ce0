#!/usr/bin/env python3
"""check_sources.py [--all] [BUILD_FOLDER]: each source file compiles alone.

Where several files are compiled as one, a file may use what another one includes. This checks the 40 source files that
changed last, or --all, with the commands of BUILD_FOLDER (build/single: configured with -DPITWALL_UNITY=OFF), without
generating code. Exits 1 if one does not compile.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("db/", "runtime/", "analyzer/", "gui/")
MOST = 40


def commands(build):
    """Path -> (folder, command) of the program's source files."""
    database = ROOT / build / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"{build}/compile_commands.json: no such file; configure first: "
                 f"cmake --preset release -B {build} -DPITWALL_UNITY=OFF")
    found = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        path = os.path.relpath(entry["file"], ROOT)
        if path.startswith(FOLDERS):
            found.setdefault(path, (entry["directory"], entry["command"]))
    return found


def changed_last():
    """Source files, the one that changed last first; uncommitted ones before all others."""
    git = ["git", "-C", str(ROOT)]
    changes = subprocess.run([*git, "diff", "--name-only", "HEAD"], check=True, capture_output=True, text=True).stdout
    changes += subprocess.run([*git, "log", "-n", "300", "--name-only", "--format=", "--", "*.cpp"], check=True,
                              capture_output=True, text=True).stdout
    return list(dict.fromkeys(changes.splitlines()))


def check(folder, command):
    words = shlex.split(command)
    output = words.index("-o")
    words = [word for word in words[:output] if not word.endswith("ccache")] + ["-fsyntax-only"] + words[output + 2:]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
    known = commands(arguments[0] if arguments else "build/single")
    paths = sorted(known) if "--all" in sys.argv else [path for path in changed_last() if path in known][:MOST]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, result in zip(paths, pool.map(lambda path: check(*known[path]), paths)):
            if result.returncode != 0:
                bad += 1
                print(f"{result.stderr}{path}:1: does not compile alone; include what it uses")
    print(f"sources: {len(paths)} of {len(known)} compiled alone, {bad} with errors")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
