#!/usr/bin/env bash
# A start script as users have them: looks around with small programs, then starts what computes.
folder=$(dirname "$(readlink -f "$0")")
name=$(basename "$0" .sh)
[ -n "$name" ] && [ "$(uname -s)" = Linux ] && date >/dev/null
"$@"
code=$?
echo "$name in $folder ended with $code" >&2
exit $code
