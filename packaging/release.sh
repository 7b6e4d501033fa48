#!/usr/bin/env bash
# release.sh [-o DIR] [--work DIR] [--cuda auto|no|HOME] [PART...]: makes the files of a release of the last commit, in one folder.
#
#   source     carbon-VERSION.tar.gz, of which all else is made, and NEWS-VERSION.md
#   portable   archive and wheel for x86-64 (build-portable.sh)
#   aarch64    archive and wheel for AArch64
#   deb        the Debian packages of this machine's release of Debian (build-deb.sh), in debian-NUMBER/
#   other-deb  those of the other one of Debian 12 and 13, built in a temporary system; as root
#   image      the image for containers (build-image.sh), of the packages of Debian 12; as root
#   conda      the recipe with the sum of the source archive, and both variants of it rendered, in conda/
#   sbom       the lists of libraries of the archives and of the packages, in SPDX
#   sums       SHA256SUMS, and the list of what there is and of what was left out, and why
#
# Without a PART it makes all of them, in this order, each of what the earlier ones have left in DIR (default: release). What cannot be made
# here is left out, and said at the end. --work has the folder of the builds (default: build-release), where what was built is used again.
# A source archive of another commit takes the place of everything that is in DIR.
# --cuda and, in the environment, CUDA_ARCH are build-portable.sh's.
# CARBON_URL is the folder where the source archive will lie, for the recipe. What it needs: ./install-deps.sh --packaging.
set -euo pipefail

fail() { echo "release.sh: $*" >&2; exit 1; }
usage() { sed -n '2,18s/^# \{0,1\}//p' "$0"; }

top=$(cd "$(dirname "$0")/.." && pwd)
all=(source portable aarch64 deb other-deb image conda sbom sums)
out=release work=build-release cuda=auto parts=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) [[ $# -gt 1 ]] || fail "-o needs a folder"; out=$2; shift ;;
    --work) [[ $# -gt 1 ]] || fail "--work needs a folder"; work=$2; shift ;;
    --cuda) [[ $# -gt 1 ]] || fail "--cuda needs auto, no or the folder of a CUDA toolkit"; cuda=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    *) [[ " ${all[*]} " == *" $1 "* ]] || fail "there is no part $1; the parts are ${all[*]}"; parts+=("$1") ;;
  esac
  shift
done
((${#parts[@]})) || parts=("${all[@]}")
# A folder that this script has not made is left alone.
if [[ -e $out && ! -e $out/.release ]] && [[ ! -d $out || -n $(ls -A "$out") ]]; then
  fail "$out exists and is not an earlier release; choose another folder with -o"
fi
mkdir -p "$out/.release" "$work"
out=$(cd "$out" && pwd) work=$(cd "$work" && pwd)
version=$(< "$top/VERSION")
source=$out/carbon-$version.tar.gz
[[ -f $source || ${parts[0]} == source ]] || fail "$source is not there yet: begin with the part source"

# leave_out REASON: ends a part. A part that fails ends the script, and leaves no note.
leave_out() { echo "$1" > "$out/.release/$part"; }
# need TOOL...: 1, and a note, if one of them is missing.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" > /dev/null && continue
    case $tool in
      qemu-*) leave_out "$tool is not installed (Debian's qemu-user)" ;;
      *) leave_out "$tool is not installed (./install-deps.sh --packaging)" ;;
    esac
    return 1
  done
}
need_root() { ((EUID == 0)) || { leave_out "only root can make it"; return 1; }; }
number_of() { case $1 in bookworm) echo 12 ;; trixie) echo 13 ;; esac; }
this_debian() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }
# replace FOLDER FILE...: FOLDER holds these files and no others.
replace() { rm -rf "$1"; mkdir -p "$1"; cp "${@:2}" "$1"; }

make_source() {
  [[ $(git -C "$top" tag --points-at HEAD) == *"$version"* ]] || echo "release.sh: the last commit has no tag $version: this is a rehearsal" >&2
  "$top/packaging/version.py" || fail "correct the versions first"
  make -s -C "$top" dist DIST="$work/source.tar.gz"
  # What was made of other sources must not lie beside these.
  if ! cmp -s "$work/source.tar.gz" "$source"; then
    find "$out" -mindepth 1 -maxdepth 1 ! -name .release -exec rm -r {} +
    rm -f "$out"/.release/*
  fi
  mv "$work/source.tar.gz" "$source"
  awk -v heading="^## (Since )?${version//./[.]}( |\$)" '/^## / { on = $0 ~ heading } on' "$top/NEWS.md" > "$out/NEWS-$version.md"
  ! grep -q '^## Since' "$out/NEWS-$version.md" || echo "release.sh: the heading of NEWS.md still begins with Since" >&2
}
# portable MACHINE: archive and wheel.
portable() {
  local name=carbon-$version-linux-$1
  "$top/packaging/build-portable.sh" -o "$work/portable" --machine "$1" --cuda "$2" "$source"
  cp "$work/portable/$name.tar.gz" "$work/portable/carbon_dna-$version-py3-none-manylinux_2_28_$1.whl" "$out/"
}
make_portable() {
  need tclsh autoconf apt-get || return 0
  portable x86_64 "$cuda"
  # What the archive has is in its table of libraries.
  tar -xOf "$out/carbon-$version-linux-x86_64.tar.gz" "carbon-$version-linux-x86_64/share/libraries" | grep -q '^cudart' ||
    leave_out "the archive and the wheel are there, but without GPUs: --cuda no was given"
}
make_aarch64() { need tclsh autoconf apt-get qemu-aarch64 || return 0; portable aarch64 no; }
make_deb() {
  need dpkg-buildpackage dh lintian || return 0
  local number
  number=$(number_of "$(this_debian)")
  [[ $number ]] || { leave_out "this is neither Debian 12 nor 13"; return; }
  "$top/packaging/build-deb.sh" -o "$work/deb" "$source"
  replace "$out/debian-$number" "$work"/deb/*.deb
}
make_other-deb() {
  need mmdebstrap && need_root || return 0
  local other mirror
  case $(this_debian) in
    bookworm) other=trixie ;;
    trixie) other=bookworm ;;
    *) leave_out "this is neither Debian 12 nor 13"; return ;;
  esac
  # shellcheck disable=SC2016 # the name is apt's
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $(this_debian)" | head -n 1)
  rm -rf "$work/other-deb"
  mkdir "$work/other-deb"
  cat > "$work/build-other.sh" << 'INNER'
set -eu
mkdir /carbon
tar -x -C /carbon --strip-components=1 -f /tmp/carbon-*.tar.gz
env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 /carbon/packaging/build-deb.sh -o /built /tmp/carbon-*.tar.gz
INNER
  # shellcheck disable=SC2016 # $1 is the hook's: the folder of the new system
  mmdebstrap --quiet --format=null --variant=apt --components=main --include="$("$top/install-deps.sh" --packaging --list | paste -sd,)" \
    --customize-hook="copy-in $source $work/build-other.sh /tmp" --customize-hook='chroot "$1" sh /tmp/build-other.sh >&2' \
    --customize-hook='find "$1/built" -mindepth 1 -maxdepth 1 ! -name "*.deb" -exec rm -r {} +' \
    --customize-hook="copy-out /built $work/other-deb" "$other" /dev/null "$mirror"
  replace "$out/debian-$(number_of "$other")" "$work"/other-deb/built/*.deb
}
make_image() {
  need mmdebstrap buildah && need_root || return 0
  local packages=("$out"/debian-12/carbon_*_amd64.deb)
  [[ -f ${packages[0]} ]] || { leave_out "there are no packages of Debian 12 to make it of"; return; }
  "$top/packaging/build-image.sh" -o "$out/carbon-$version-image.tar" "${packages[0]}"
}
make_conda() {
  rm -rf "$out/conda"
  mkdir "$out/conda"
  cp "$top"/packaging/conda/{build.sh,conda_build_config.yaml} "$out/conda/"
  # In the place of the checkout: the archive.
  sed -e '/^# A checkout\. For a release/d' -e "s|^  path: \.\./\.\.\$|  url: ${CARBON_URL:-https://example.org}/carbon-{{ version }}.tar.gz|" \
    -e "/^  url: /a\\  sha256: $(sha256sum < "$source" | cut -d ' ' -f 1)" "$top/packaging/conda/meta.yaml" > "$out/conda/meta.yaml"
  grep -q '^  sha256: ' "$out/conda/meta.yaml" || fail "packaging/conda/meta.yaml has no line for its source"
  if python3 -c 'import jinja2, yaml' 2> /dev/null; then
    python3 "$top/packaging/conda/render.py" "$out/conda"
  else
    leave_out "the recipe is there, but not rendered: Python's jinja2 or yaml is missing"
  fi
  [[ ${CARBON_URL-} ]] || leave_out "the recipe is there, but its url is a placeholder: CARBON_URL does not say where the archive will lie"
}
make_sbom() {
  rm -f "$out"/*.spdx
  local archive package
  for archive in "$out"/carbon-"$version"-linux-*.tar.gz; do
    [[ ! -f $archive ]] || "$top/packaging/sbom.py" --archive "$archive" > "${archive%.tar.gz}.spdx"
  done
  for package in "$out"/debian-*/carbon_*.deb; do
    [[ ! -f $package ]] || dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/carbon/carbon.spdx \
      > "$out/carbon-$version-$(basename "$(dirname "$package")").spdx"
  done
  compgen -G "$out/*.spdx" > /dev/null || leave_out "there is neither an archive nor a Debian package"
}
make_sums() {
  cd "$out"
  find . -type f ! -path './.release/*' ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum > .release/SHA256SUMS
  mv .release/SHA256SUMS .
  echo "== $out: carbon $version"
  cut -c 67- SHA256SUMS | xargs -d '\n' stat -c '%12s  %n'
  local each
  for each in "${all[@]}"; do
    if [[ -s .release/$each ]]; then
      echo "left out  $each: $(< ".release/$each")"
    elif [[ ! -e .release/$each && $each != sums ]]; then
      echo "left out  $each: it was not asked for, or failed"
    fi
  done
}
for part in "${parts[@]}"; do
  started=$SECONDS
  rm -f "$out/.release/$part" # the note of an earlier run
  echo "== release.sh: $part"
  "make_$part"
  [[ -e $out/.release/$part ]] || : > "$out/.release/$part"
  echo "== release.sh: $part, $((SECONDS - started)) s"
done
