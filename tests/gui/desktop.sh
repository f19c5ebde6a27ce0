#!/usr/bin/env bash
# desktop.sh CMAKE FOLDER PITWALL: installs what makes a desktop know the viewer (FOLDER is its build folder), asks the
# desktop's own validators, and asks what a desktop would open a trace with. Skips (77) where those are absent.
set -euo pipefail
cmake=$1 built=$2 pitwall=$3
id=org.pitwall.viewer
type=application/x-pitwall-trace

for tool in desktop-file-validate appstreamcli update-mime-database xdg-mime gio; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is not installed"
    exit 77
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" -DCMAKE_INSTALL_PREFIX="$work" -P "$built/cmake_install.cmake" >/dev/null
share=$work/share

desktop-file-validate "$share/applications/$id.desktop"
appstreamcli validate --pedantic --no-net "$share/metainfo/$id.metainfo.xml"
# The names that must agree for a window to get its icon and a file its program.
grep -qx "Icon=$id" "$share/applications/$id.desktop"
grep -q "<id>$id</id>" "$share/metainfo/$id.metainfo.xml"
grep -qx "MimeType=$type;" "$share/applications/$id.desktop"
for icon in scalable/apps/$id.svg symbolic/apps/$id-symbolic.svg 48x48/apps/$id.png 128x128/apps/$id.png \
  scalable/mimetypes/${type/\//-}.svg; do
  [ -s "$share/icons/hicolor/$icon" ] || { echo "missing icon: $icon" && exit 1; }
done

# A desktop that knows what was installed above and what the system has.
export XDG_DATA_HOME=$share XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache HOME=$work
export XDG_CURRENT_DESKTOP=GNOME XDG_DATA_DIRS=${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
mkdir -p "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME"
update-mime-database "$share/mime"
update-desktop-database "$share/applications"

# expect NAME WANTED GOT
expect() {
  if [ "$2" != "$3" ]; then
    echo "$1: $3, not $2"
    exit 1
  fi
  echo "$1: $3"
}
cat >"$work/trace.json" <<'EOF'
{"traceEvents": [{"ph": "X", "name": "step", "ts": 1, "dur": 5, "pid": 1, "tid": 1}]}
EOF
"$pitwall" import "$work/trace.json" -o "$work/run.pitwall" >/dev/null
cp "$work/run.pitwall" "$work/no_suffix"
# Another program's database: the same file without our application_id.
cp "$work/run.pitwall" "$work/other"
printf '\0\0\0\0' | dd of="$work/other" bs=1 seek=68 conv=notrunc status=none
expect "a trace" $type "$(xdg-mime query filetype "$work/run.pitwall")"
expect "a trace by content alone" $type "$(xdg-mime query filetype "$work/no_suffix")"
expect "another database" application/vnd.sqlite3 "$(xdg-mime query filetype "$work/other")"
expect "opened with" $id.desktop "$(xdg-mime query default $type)"
echo passed
