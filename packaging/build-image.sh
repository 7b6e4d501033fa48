#!/usr/bin/env bash
# build-image.sh [-o FILE] [--suite SUITE] [MIRROR...] CARBON.deb: an OCI image with Debian, the packages that the Dockerfile lists, and
# the given package of carbon, without Docker. mmdebstrap installs, buildah makes the image.
#
#   -o FILE        the image as an OCI archive (default: carbon-image.tar), which podman, skopeo, docker and apptainer load
#   --suite SUITE  the release of Debian (default: bookworm)
#   MIRROR         lines or files for apt's sources, as mmdebstrap takes them (default: Debian's own)
#
# The image has no compiler, no manual pages, and of the documents only licences. It runs as the user nobody and writes
# nothing outside /tmp. Run it as root. What it needs: ./install-deps.sh --packaging.
set -euo pipefail

fail() { echo "build-image.sh: $*" >&2; exit 1; }
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

here=$(cd "$(dirname "$0")" && pwd)
out=carbon-image.tar suite=bookworm words=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) [[ $# -gt 1 ]] || fail "-o needs a file"; out=$2; shift ;;
    --suite) [[ $# -gt 1 ]] || fail "--suite needs a name"; suite=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) words+=("$1") ;;
  esac
  shift
done
[[ ${#words[@]} -gt 0 && -f ${words[-1]} && ${words[-1]} == *.deb ]] || { usage >&2; exit 1; }
package=${words[-1]}
unset 'words[-1]'
for tool in mmdebstrap buildah dpkg-deb; do
  command -v $tool > /dev/null || fail "$tool is not installed; ./install-deps.sh --packaging installs it"
done
[[ $(dpkg-deb -f "$package" Package) == carbon ]] || fail "$package is not the package carbon"
version=$(dpkg-deb -f "$package" Version)
version=${version%-*}
# The time of everything in the image: that of the package, so that the same package gives the same files.
newest=$(dpkg-deb --fsys-tarfile "$package" | tar -tv --full-time --utc | grep -oE '[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}' | sort | tail -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date -d "$newest UTC" +%s)}
export SOURCE_DATE_EPOCH

# The list of the Dockerfile's stage `program`.
list=$(sed -n '/ AS program$/,/^COPY/p' "$here/Dockerfile" | tr -d '\\\n' |
  sed -nE 's/.*--no-install-recommends +([^&]+)&&.*/\1/p' | xargs | tr ' ' ,)
[[ $list == *libhts3* ]] || fail "no list of packages in $here/Dockerfile"

work=$(mktemp -d /var/tmp/carbon-image.XXXXXX)
# shellcheck disable=SC2317 # called by the trap
cleanup() {
  [[ -z ${container:-} ]] || images rm "$container" > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

# dpkg refuses the package if the list lacks one that it depends on, and the image is not made.
slim=(--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*'
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*'
  --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-include=/usr/share/doc/carbon/*')
# shellcheck disable=SC2016 # $1 is the hook's: the folder of the new system
mmdebstrap --quiet --variant=apt --components=main "${slim[@]}" --include="$list" \
  --customize-hook="copy-in $package /tmp" \
  --customize-hook='chroot "$1" sh -c "dpkg -i /tmp/*.deb > /dev/null && rm /tmp/*.deb"' \
  --customize-hook='chroot "$1" carbon --version' \
  "$suite" "$work/root.tar" "${words[@]}"

# A storage of its own, which goes with the working folder.
images() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
container=$(images from scratch)
images add --quiet "$container" "$work/root.tar" / > /dev/null
images config --user nobody --cmd '["carbon", "--help"]' --workingdir / \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --env LANG=C.UTF-8 \
  --label org.opencontainers.image.title=carbon --label "org.opencontainers.image.version=$version" \
  --label org.opencontainers.image.licenses=Apache-2.0 "$container"
images commit --quiet --format oci --disable-compression=false --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci-archive:$work/image.tar:carbon:$version" > /dev/null
mv "$work/image.tar" "$out"

echo "$out: carbon:$version, $(stat -c %s "$out") bytes; unpacked $(stat -c %s "$work/root.tar") bytes"
