#!/usr/bin/env bash
# chroot.sh PACKAGES [SUITE]: installs the Debian packages of the folder PACKAGES (.ci/build_packages.sh) into a bare Debian,
# uses them as a stranger would, removes them, and reports every file that they left. Needs root, the network and
# mmdebstrap; takes minutes. The sources and the settings of apt are this machine's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$(realpath "$1") suite=${2:-bookworm}
[ "$(id -u)" = 0 ] || { echo "chroot.sh: needs root"; exit 1; }
for tool in mmdebstrap apt-config unshare; do
  command -v "$tool" >/dev/null || { echo "chroot.sh: $tool is not installed"; exit 1; }
done
ls "$packages"/pitwall_*.deb >/dev/null

work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT

step() { printf '\n=== %s\n' "$*"; }
# inside COMMAND...: in the chroot, with its own /proc, /dev and processes, which end with it.
inside() {
  unshare --mount --pid --fork --kill-child sh -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}
# All that a purge must restore: files, but those that programs of Debian write for themselves.
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./tmp -o -path ./trial \) -prune -o -print | sort); }

step "a bare Debian $suite"
apt-config dump | grep -E '^(Acquire|APT::Sandbox)' >"$work/apt.conf" || true
sources=/etc/apt/sources.list.d/debian.sources
[ -s "$sources" ] || sources=/etc/apt/sources.list
mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" "$suite" "$root" "$sources"
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
inside apt-get -qq update
# What the trial itself uses, before the list of files is taken: the programs to record and to build.
inside apt-get -qq -y install --no-install-recommends python3 g++ cmake make >/dev/null
mkdir "$root/trial"
cp "$packages"/*.deb "$root/trial/"
cp -r "$here/c" "$here/runtime" "$here/profiler" "$here/store" "$here/in_chroot.sh" "$root/trial/"
inside dpkg-query -W -f '${Package}\n' | sort >"$work/packages.before"

step "installation"
inside sh -c 'apt-get -qq -y install --no-install-recommends /trial/*.deb' >"$work/install.log" || { tail -40 "$work/install.log"; exit 1; }
inside dpkg-query -W -f '${Package} ${Version} ${Status}\n' '*pitwall*'
inside sh -c 'dpkg-query -L $(dpkg-query -W -f "\${Package} " "*pitwall*")' | sort -u >"$work/ours"

step "trial"
inside sh /trial/in_chroot.sh

step "removal"
inside sh -c 'apt-get -qq -y purge $(dpkg-query -W -f "\${Package} " "*pitwall*")' >"$work/purge.log" 2>&1
cat "$work/purge.log" | grep -i 'not empty\|warning' && { echo "FAILED: dpkg warns"; exit 1; }
# apt keeps what another package suggests, as gcc suggests automake, which libopenmpi-dev brings.
inside apt-get -qq -y autoremove --purge -o APT::AutoRemove::SuggestsImportant=false >/dev/null
inside dpkg-query -W -f '${Package}\n' | sort >"$work/packages.after"
diff "$work/packages.before" "$work/packages.after" || { echo "FAILED: packages stay"; exit 1; }
# By name anywhere, and every path that was ours and is not of another package's.
left=$(files | grep -i pitwall || true)
while read -r path; do
  if { [ -e "$root$path" ] || [ -L "$root$path" ]; } && [ ! -d "$root$path" ]; then left+=$'\n'$path; fi
done <"$work/ours"
left=$(echo "$left" | grep -vE '^$|^\./(var/log|var/cache/apt|var/lib/apt|root/)' || true)
if [ -n "$left" ]; then printf 'FAILED: these files stay:\n%s\n' "$left"; exit 1; fi
echo "removed without a file left"
