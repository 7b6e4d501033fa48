#!/usr/bin/env bash
# build-deb.sh [--cuda] [--check] [-o DIR] [TARBALL]: builds the Debian packages from the archive of `make dist`, which it makes of
# the last commit if none is given, and asks lintian about them.
#
#   --cuda    also carbon-cuda, with the CUDA toolkit of this machine
#   --check   runs `make check` during the build, which takes long; otherwise a test of seconds
#   -o DIR    where packages and sources are built (default: build-deb); an earlier build there is replaced
#
# DEB_BUILD_OPTIONS (nocheck, parallel=N, ...) is dpkg-buildpackage's. What it needs: ./install-deps.sh --packaging.
set -euo pipefail

fail() { echo "build-deb.sh: $*" >&2; exit 1; }
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }

top=$(cd "$(dirname "$0")/.." && pwd)
out=build-deb tarball='' profiles=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --cuda) profiles+=(pkg.carbon.cuda) ;;
    --check) profiles+=(pkg.carbon.check) ;;
    -o) [[ $# -gt 1 ]] || fail "-o needs a folder"; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) [[ -z $tarball ]] || fail "one archive is expected, not also $1"; tarball=$1 ;;
  esac
  shift
done
for tool in dpkg-buildpackage dh lintian; do
  command -v "$tool" > /dev/null || fail "$tool is not installed; ./install-deps.sh --packaging installs it"
done

# A folder that this script has not made is left alone.
if [[ -e $out && ! -e $out/.build-deb ]] && [[ ! -d $out || -n $(ls -A "$out") ]]; then
  fail "$out exists and is not an earlier build; choose another folder with -o"
fi
unpack=$(mktemp -d)
trap 'rm -rf "$unpack"' EXIT
if [[ $tarball ]]; then
  cp "$tarball" "$unpack/carbon.tar.gz"
else
  make -s -C "$top" dist DIST="$unpack/carbon.tar.gz"
fi
rm -rf "$out"
mkdir -p "$out"
: > "$out/.build-deb"
tar -xzf "$unpack/carbon.tar.gz" -C "$out"
sources=("$out"/carbon-*/)
[[ ${#sources[@]} -eq 1 && -f ${sources[0]}VERSION ]] || fail "the archive does not hold one folder carbon-VERSION"
version=$(< "${sources[0]}VERSION")
mv "$unpack/carbon.tar.gz" "$out/carbon_$version.orig.tar.gz"
# With the times of the archive: a package must not tell when this copy was made.
cp -R --preserve=timestamps "${sources[0]}packaging/debian" "${sources[0]}debian"

cd "${sources[0]}"
joined=$(IFS=,; echo "${profiles[*]}")
dpkg-buildpackage -us -uc ${joined:+"--build-profiles=$joined"}
cd ..
lintian --fail-on error --info ./*.changes
ls -l ./*.deb
