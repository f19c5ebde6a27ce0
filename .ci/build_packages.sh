#!/usr/bin/env bash
# build_packages.sh [FOLDER [OPTION...]]: builds the Debian packages into FOLDER (default: build/packages) and checks them with
# lintian. The options are for cmake.
# Needs the packages of the tags build, viewer and package. DEBFULLNAME and DEBEMAIL name the maintainer, CXXFLAGS and
# LDFLAGS replace Debian's own, PITWALL_CUDA=ON records GPUs (needs the headers of CUPTI).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/packages}")
shift $(($# > 0))
build=$PWD/build/debian
# The same source gives the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH CXXFLAGS=${CXXFLAGS-$(dpkg-buildflags --get CXXFLAGS) $(dpkg-buildflags --get CPPFLAGS)}
export LDFLAGS=${LDFLAGS-$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now}
umask 022

cmake --preset release -B "$build" -Wno-dev -DCMAKE_INSTALL_PREFIX=/usr -DPITWALL_WERROR=OFF -DPITWALL_GUI=ON \
  -DPITWALL_CUDA="${PITWALL_CUDA:-OFF}" -DPITWALL_BUILD_TESTS=OFF -DPITWALL_BUILD_BENCH=OFF -DPITWALL_BUILD_SAMPLES=OFF \
  -DPITWALL_ZSH_FOLDER=share/zsh/vendor-completions "$@"
cmake --build "$build"
rm -rf "$out"
mkdir -p "$out"
(cd "$build" && cpack -G DEB -B "$out")
rm -rf "$out/_CPack_Packages"

# finish PACKAGE [MULTI_ARCH [TRIGGER]]: what CPack of Debian 12 cannot say. A trigger runs ldconfig instead of CPack's scripts.
finish() {
  local deb script folder
  deb=$(echo "$out/$1"_*.deb)
  folder=$(mktemp -d)
  dpkg-deb --raw-extract "$deb" "$folder"
  [ -z "${2:-}" ] || sed -i "/^Architecture:/a Multi-Arch: $2" "$folder/DEBIAN/control"
  for script in postinst postrm; do
    if grep -qs ldconfig "$folder/DEBIAN/$script"; then rm "$folder/DEBIAN/$script"; fi
  done
  [ -z "${3:-}" ] || echo "activate-noawait $3" >"$folder/DEBIAN/triggers"
  dpkg-deb --root-owner-group -Zxz --build "$folder" "$deb" >/dev/null
  rm -r "$folder"
}
finish libpitwall0 same ldconfig
finish libpitwall-dev same
finish python3-pitwall foreign
finish pitwall
finish pitwall-gui
ls -l "$out"

# Not from an archive: no bug asks for these packages, and who builds them need not have an address.
suppressed=initial-upload-closes-no-bugs
[ -n "${DEBEMAIL:-}" ] || suppressed+=,bogus-mail-host,bogus-mail-host-in-debian-changelog
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --suppress-tags "$suppressed" --tag-display-limit 0 "$out"/*.deb
  echo "lintian: no errors, no warnings"
else
  echo "lintian is not installed: the packages were not checked"
fi
