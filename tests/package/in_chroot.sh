#!/bin/sh
# in_chroot.sh: what chroot.sh runs within: the installed packages alone, from a separate folder.
set -eu
cd /trial
say() { printf '\n--- %s\n' "$*"; }
fails() { echo "FAILED: $*"; exit 1; }

say "the command records a Python program, with marks of the package"
cat >program.py <<'PY'
import pitwall
@pitwall.zone("compute")
def compute():
    return sum(i * i for i in range(200000))
for step in range(20):
    compute()
    pitwall.counter("loss", 1.0 / (step + 1))
    pitwall.iteration(items=32)
PY
pitwall record -o run.pitwall -- python3 program.py
test -s run.pitwall || fails "no trace"
test "$(pitwall query run.pitwall "SELECT count FROM event_stats WHERE name = 'compute'" | tail -1)" = 20 || fails "zones"

say "analysis, export, import"
pitwall analyze run.pitwall | head -12
pitwall analyze run.pitwall --no-env --format html -o run.html
test -s run.html || fails "no report"
pitwall export run.pitwall -o run.json
pitwall import run.json -o again.pitwall | tail -1
pitwall rules list | grep -q '/usr/share/pitwall/rules' || fails "the rules are not those of the package"

say "the viewer, without a display"
pitwall-gui --export run.png run.pitwall
test "$(head -c 4 run.png | tail -c 3)" = PNG || fails "no picture"
QT_QPA_PLATFORM=offscreen pitwall-gui --version

say "find_package from C and from C++"
for project in c profiler store runtime; do
  cmake -S $project -B build-$project -DCMAKE_BUILD_TYPE=Release >cmake.log || { cat cmake.log; fails "$project: cmake"; }
  cmake --build build-$project >build.log 2>&1 || { cat build.log; fails "$project: build"; }
  if grep -i 'warning' build.log; then fails "$project: warnings"; fi
  (cd build-$project && ./main)
done
ldconfig -p | grep -q 'libpitwall.so.0 ' || fails "ldconfig does not know libpitwall.so.0"

say "the C program links the shared library"
ldd build-c/main | grep -q libpitwall.so.0 || fails "the C program does not use the shared library"

say "man pages and completions are where they are looked for"
for page in pitwall pitwall-record pitwall-gui; do test -s /usr/share/man/man1/$page.1.gz || echo "note: $page.1.gz is not installed (dpkg excludes man pages here)"; done
bash --norc -c '. /usr/share/bash-completion/completions/pitwall && complete -p pitwall'
test -s /usr/share/zsh/vendor-completions/_pitwall && test -s /usr/share/fish/vendor_completions.d/pitwall.fish || fails "completions"
