#!/usr/bin/env bash
# check-reproducible.sh [--deb [--cuda] [--against DIR]]: builds the last commit in two folders and compares the bytes.
#
# Without options, `make` builds the program and the plugins. With --deb, build-deb.sh builds the Debian packages; with --against
# too, once, from the archive in DIR, and the packages are compared with those in DIR. The second build has another path, time
# zone, locale and umask than the first. Exit status 1 if a file differs. Takes as long as the builds.
set -euo pipefail

fail() { echo "check-reproducible.sh: $*" >&2; exit 1; }
usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }

here=$(cd "$(dirname "$0")" && pwd)
deb='' against='' options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --deb) deb=1 ;;
    --cuda) options+=(--cuda) ;;
    --against) [[ $# -gt 1 ]] || fail "--against needs a folder"; against=$(realpath -e "$2"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 1 ;;
  esac
  shift
done
[[ $deb || -z $against${options[*]} ]] || fail "--against and --cuda need --deb"

work=$(mktemp -d "${TMPDIR:-/tmp}/reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT
first=$work/a second=$work/another/folder/b
mkdir -p "$first" "$second"
archive=$work/carbon.tar.gz

# build DIR: the files to compare lie in DIR/result afterwards.
build() {
  local dir=$1 source
  if [[ $deb ]]; then
    "$here/build-deb.sh" "${options[@]}" -o "$dir/deb" "$archive" > "$dir/log" 2>&1 || { tail -n 40 "$dir/log" >&2; fail "a build fails"; }
    mkdir "$dir/result"
    mv "$dir"/deb/*.deb "$dir/result"
  else
    tar -xzf "$archive" -C "$dir"
    source=$(echo "$dir"/carbon-*)
    make -s -C "$source" -j"$(nproc)" WITH_CUDA=no > "$dir/log" 2>&1 || { tail -n 40 "$dir/log" >&2; fail "a build fails"; }
    mkdir "$dir/result"
    mv "$source/carbon" "$source"/plugins/*.so "$dir/result"
  fi
}

if [[ $against ]]; then
  archives=("$against"/carbon_*.orig.tar.gz)
  [[ ${#archives[@]} -eq 1 && -f ${archives[0]} ]] || fail "$against does not hold one archive carbon_VERSION.orig.tar.gz"
  cp "${archives[0]}" "$archive"
  mkdir "$first/result"
  cp "$against"/*.deb "$first/result"
else
  make -s -C "$here/.." dist DIST="$archive"
  build "$first"
fi
(umask 002; export TZ=Pacific/Kiritimati LC_ALL=C.UTF-8; build "$second")

[[ $(ls "$first/result") == "$(ls "$second/result")" ]] || fail "not the same files: $(ls "$first/result" "$second/result")"
differ=0
for path in "$first"/result/*; do
  name=${path##*/}
  sum=$(sha256sum < "$path")
  if cmp "$path" "$second/result/$name"; then
    echo "same bytes  ${sum%% *}  $name"
  else
    echo "DIFFERENT   $name"
    differ=1
  fi
done
exit $differ
