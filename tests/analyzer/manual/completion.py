#!/usr/bin/env python3
"""completion.py SHELL FOLDER: a shell without its user's configuration reads the completion of `pitwall` in FOLDER, and
completes what is typed as a user would see it. Skips (77) where the shell is not installed."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

# Typed, then what the line becomes or a list must hold.
CASES = [
    ("pitwall anal", "analyze"),
    ("pitwall rules ch", "check"),
    ("pitwall analyze --env-f", "--env-format"),
    ("pitwall analyze --format mark", "markdown"),
    ("pitwall analyze --format=sar", "sarif"),
    ("pitwall export --format rows --sing", "--single"),
    ("pitwall rules show input/bou", "input/bound"),
    ("pitwall env MXNET_CPU_MEM_LARGE", "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE"),
    ("pitwall analyze unusual_tr", "unusual_trace.pitwall"),
    ("pitwall analyze --rules unusual_fo", "unusual_folder/"),
    ("pitwall analyze -o unusual_tr", "unusual_trace.pitwall"),
    ("pitwall record -o x.pitwall -- unusual_prog", "unusual_program"),
]
PROMPT = "ready> "


def read_until(fd, text, limit=30):
    """What the terminal shows until `text` is in it; a limit so that a shell that is silent ends the test."""
    shown = ""
    while text not in shown:
        if not select.select([fd], [], [], limit)[0]:
            raise SystemExit(f"FAILED: {text!r} is not shown within {limit} s: {shown!r}")
        try:
            shown += os.read(fd, 4096).decode(errors="replace")
        except OSError:
            raise SystemExit(f"FAILED: the shell ended: {shown!r}")
        shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|[\x00\x07\r]", "", shown)
    return shown


def typed(shell, setup, environment, folder):
    """Types each case and a tab into an interactive shell."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(shell[0], shell, environment)
    for command in setup + [f"PS1='{PROMPT}'", "echo set''up"]:
        os.write(fd, (command + "\n").encode())
    read_until(fd, "setup")
    for line, expected in CASES:
        os.write(fd, b"\x15" + (line + "\t").encode())  # ctrl-U empties the line
        read_until(fd, expected)
        print(f"{line}<tab>: {expected}")
    os.write(fd, b"\x15exit\n")
    os.waitpid(pid, 0)


def with_bash(built, environment, folder):
    typed(["bash", "--norc", "--noprofile", "-i"], [f". {built}/bash/pitwall"], environment, folder)


def with_zsh(built, environment, folder):
    setup = [f"fpath=({built}/zsh $fpath)", "unsetopt prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste",
             "autoload -U compinit; compinit -u -D"]
    typed(["zsh", "-f", "-i"], setup, environment, folder)


def with_fish(built, environment, folder):
    for line, expected in CASES:
        script = f"source {built}/fish/pitwall.fish; complete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", script], env=environment, cwd=folder, capture_output=True, text=True)
        offered = [row.split("\t")[0] for row in done.stdout.splitlines()]
        if not any(o == expected or o.endswith("=" + expected) for o in offered) or done.stderr:
            raise SystemExit(f"FAILED: {line}: offers {offered}, not {expected}; {done.stderr}")
        print(f"{line}<tab>: {expected}")


def main():
    shell, built = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which(shell):
        print(f"skipped: {shell} is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "unusual_trace.pitwall").touch()
        pathlib.Path(folder, "unusual_folder").mkdir()
        program = pathlib.Path(folder, "bin", "unusual_program")
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": folder, "TERM": "vt100", "LC_ALL": "C.UTF-8",
                       "COLUMNS": "200", "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder, "XDG_CACHE_HOME": folder}
        {"bash": with_bash, "zsh": with_zsh, "fish": with_fish}[shell](built, environment, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
