#!/bin/sh
# rules_name_known_settings.sh ROOT < settings.md: every setting that a rule in ROOT/rules proposes is in the catalogue.
set -eu
known=$(grep -oE '^### `[^`]+`' | tr -d '#` ')
[ -n "$known" ] || { echo "no setting on standard input: is it docs/settings.md?"; exit 1; }
failed=0
names=$(find "$1/rules" -name '*.toml' -exec sed -nE 's/^name = "([A-Z][A-Z0-9_]*[A-Za-z0-9_]*)".*/\1/p' {} + | sort -u)
[ -n "$names" ] || { echo "no rule in $1/rules proposes a setting"; exit 1; }
for name in $names; do
  case $name in PITWALL_TUNE_*) continue ;; esac
  if ! printf '%s\n' "$known" | grep -qx "$name"; then
    echo "$(grep -rnl "\"$name\"" "$1/rules"): proposes $name, which is not in db/settings/; add it or correct the name"
    failed=1
  fi
done
[ $failed = 0 ] && echo "$(printf '%s\n' "$names" | wc -l) proposed settings, all known"
exit $failed
