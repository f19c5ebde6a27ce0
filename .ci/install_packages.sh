#!/usr/bin/env bash
# install_packages.sh TAG...: installs the packages of .ci/packages.txt that have one of the tags. Not interactive;
# does nothing when all are installed. Runs as root, or through sudo where that needs no password.
set -euo pipefail
list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"

missing=()
for tag in "$@"; do
  for package in $(awk -v tag="$tag" '!/^#/ && $2 == tag { print $1 }' "$list"); do
    dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
    echo "These packages are missing and installing them needs root. Run, then start again:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
if ! "${apt[@]}" update >/dev/null || ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "apt-get could not install them; see its message above. Is this Debian 12 with a reachable mirror?" >&2
  exit 1
fi
