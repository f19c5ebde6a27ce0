#!/usr/bin/env bash
# headless.sh PITWALL_GUI PITWALL: what --export writes, without a display, against what the command says of the trace.
set -euo pipefail
gui=$1 pitwall=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
cd "$work"

python3 - <<'EOF'
import json
events = [{"ph": "X", "name": name, "ts": 1000 * i + at, "dur": dur, "pid": 1, "tid": 1, "cat": "cpu_op"}
          for i in range(20) for name, at, dur in (("step", 0, 900), ("conv, 3x3", 10, 500), ("wait", 600, 100))]
json.dump({"traceEvents": events}, open("a.json", "w"))
for e in events:
    e["dur"] *= 0.5
json.dump({"traceEvents": events}, open("b.json", "w"))
EOF
"$pitwall" import a.json -o a.pitwall >/dev/null
"$pitwall" import b.json -o b.pitwall >/dev/null

"$gui" --export shot.png --size 900x700 --range 2ms..5ms --select "conv, 3x3" --theme dark a.pitwall
"$gui" --export plain.png --size 900x700 a.pitwall
"$gui" --export everyone.png --size 900x700 --color-blind a.pitwall
! cmp -s plain.png everyone.png # other colours
"$gui" --export shot.svg --size 900x700 a.pitwall
"$gui" --export twice.png --scale 2 --size 900x700 a.json # another tool's file
"$gui" --export all.csv a.pitwall
"$gui" --export part.json --range 2ms..5ms --select "conv, 3x3" a.pitwall
"$gui" --export change.json a.pitwall b.pitwall
"$gui" --export compare.png --size 1000x700 a.pitwall b.pitwall
"$pitwall" compare a.pitwall b.pitwall --format json >wanted.json
"$pitwall" query a.pitwall "SELECT name, count(*), sum(dur_ns) FROM event GROUP BY name ORDER BY 3 DESC" --format json >sql.json

python3 - <<'EOF'
import csv, json, struct, xml.etree.ElementTree as xml
def size(path):
    head = open(path, "rb").read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", path
    return struct.unpack(">II", head[16:24])
assert size("shot.png") == (900, 700), size("shot.png")
assert size("twice.png") == (1800, 1400), size("twice.png")
assert size("compare.png") == (1000, 700)
text = "".join(e.text or "" for e in xml.parse("shot.svg").iter())
assert "In view" in text and "Findings" in text, text[:300]
rows = list(csv.DictReader(open("all.csv")))
sql = json.load(open("sql.json"))
sql = sql.get("rows", sql) if isinstance(sql, dict) else sql
sql = [list(r.values()) if isinstance(r, dict) else r for r in sql]
assert [(r["name"], int(r["count"]), int(r["total_ns"])) for r in rows] == [(n, c, t) for n, c, t in sql], (rows, sql)
part = json.load(open("part.json"))
by_name = {r["name"]: r for r in part["names"]}
assert by_name["conv, 3x3"]["count"] == 3 and by_name["conv, 3x3"]["total_ns"] == 1500000, by_name
assert part["selected"]["Name"] == "conv, 3x3" and part["range"] == {"begin_ns": 2000000, "end_ns": 5000000}, part
assert json.load(open("change.json")) == json.load(open("wanted.json"))
EOF

# refuses CODE WORDS ARGUMENTS...: fails so, and says what is wrong in one line.
refuses() {
  local code=0 said
  said=$("$gui" "${@:3}" 2>&1) || code=$?
  if [ "$code" -ne "$1" ] || [[ "$said" != *"$2"* ]]; then
    echo "pitwall-gui ${*:3}: code $code, not $1: $said"
    exit 1
  fi
}
refuses 3 "missing.pitwall" --export x.csv missing.pitwall
refuses 3 "missing.pitwall" --export error.png missing.pitwall
[ -s error.png ] # shows the message
refuses 2 "no event has the name" --export x.png --select nothing a.pitwall
refuses 2 "--range" --export x.png --range 9s..10s a.pitwall
refuses 2 "cannot be written" --export none/x.png a.pitwall
refuses 2 "there is no such page" --export x.png --page nothing a.pitwall
refuses 2 "there is no display" a.pitwall
refuses 2 "--scale" --scale much a.pitwall

# A signal while another tool's file is imported leaves no temporary folder, with a window and without.
python3 - <<'EOF'
import json
event = json.dumps({"ph": "X", "name": "a long enough name of an event", "ts": 1, "dur": 5, "pid": 1, "tid": 1, "cat": "cpu_op"})
with open("long.json", "w") as file:
    file.write('{"traceEvents": [' + ",".join([event] * 600000) + "]}")
EOF
for mode in "" "--export long.png"; do
  mkdir -p signalled
  # shellcheck disable=SC2086
  TMPDIR=$work/signalled QT_QPA_PLATFORM=offscreen "$gui" $mode long.json 2>/dev/null &
  viewer=$!
  for _ in $(seq 300); do
    [ -n "$(ls -A signalled)" ] && break
    sleep 0.1
  done
  [ -n "$(ls -A signalled)" ]
  kill -TERM "$viewer"
  code=0
  wait "$viewer" || code=$?
  [ "$code" -eq 143 ] || { echo "after SIGTERM: code $code" && exit 1; }
  [ -z "$(ls -A signalled)" ] || { echo "left behind: $(ls -A signalled)" && exit 1; }
done
# Both are kept for the windows after this one, the theme of a picture is not.
[ ! -e config/pitwall ] || ! grep -rq theme config/pitwall
QT_QPA_PLATFORM=offscreen "$gui" --theme dark --color-blind a.pitwall &
viewer=$!
for _ in $(seq 300); do
  grep -qs color_blind=true config/pitwall/pitwall-gui.conf && break
  sleep 0.1
done
kill -TERM "$viewer"
wait "$viewer" || true
grep -qx color_blind=true config/pitwall/pitwall-gui.conf
grep -qx theme=dark config/pitwall/pitwall-gui.conf

"$gui" --export nothing_open.png
"$gui" --version | grep -q "^pitwall-gui [0-9]"
"$gui" --help | grep -q -- --select
echo passed
