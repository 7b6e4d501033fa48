#!/usr/bin/env bash
# check-release.sh FOLDER [SYSTEM...]: installs each file of a release (release.sh) where its users would, tries it there, and prints a
# table.
#
# A SYSTEM is debian-11, debian-12 or debian-13, a bare system that mmdebstrap makes in a temporary folder, for which it takes root and
# the mirror of this machine's apt; or the name of a Python, such as python3.11, for a virtual environment. Default: these three, and
# every Python from 3.9 on that is on PATH. The archive is tried in each Debian, the wheel in each Debian by its own Python and by each
# Python here, and the Debian packages on theirs. What is for another kind of CPU than this machine's is named and not tried.
#
# Trying means: the first score, smoke.sh, and the outputs of score and generate, which must have the same bytes everywhere. The sums in
# SHA256SUMS must be right, no file may be missing there, and each SBOM must name its libraries with versions and licences.
# What is in the folder and was not tried, and what a release has and this folder has not, is listed as left out.
# The seconds are from the file on the disk to the first score. The exit status is 1 if anything fails, and 2 if nothing could be tried.
set -euo pipefail

fail() { echo "check-release.sh: $*" >&2; exit 1; }
usage() { sed -n '2,15s/^# \{0,1\}//p' "$0"; }

here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
  -h | --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 1 ;;
esac
[[ -f $1/SHA256SUMS ]] || fail "$1 has no SHA256SUMS; is it a folder of release.sh?"
folder=$(cd "$1" && pwd)
shift
systems=("$@")
if ((${#systems[@]} == 0)); then
  systems=(debian-11 debian-12 debian-13)
  for minor in {9..19}; do if "python3.$minor" -c "" 2> /dev/null; then systems+=("python3.$minor"); fi; done
fi
work=$(mktemp -d /var/tmp/check-release.XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0 tried=0 wanted=''
wrong() { echo "WRONG  $*"; failed=1; }
# row ARTEFACT SYSTEM FIRST-SCORE SECONDS SMOKE BYTES
row() { (IFS=$'\t'; echo "$*") >> "$work/table"; }
left_out() { echo "left out  $*" >> "$work/left-out"; }

# ---- what is in the folder
cd "$folder"
if sha256sum --check --strict --quiet SHA256SUMS; then echo "right  SHA256SUMS: $(wc -l < SHA256SUMS) files"; else wrong "SHA256SUMS"; fi
while read -r name; do
  grep -qF "  $name" SHA256SUMS || wrong "$name is not in SHA256SUMS"
done < <(find . -type f ! -path './.release/*' ! -name SHA256SUMS -printf '%P\n' | sort)
# Every package of the list has a version and a licence, and htslib is among them, by one of its names.
for sbom in *.spdx; do
  [[ -f $sbom ]] || { wrong "there is no SBOM (*.spdx)"; continue; }
  if said=$(awk -F ': ' '
      NR == 1 && $0 != "SPDXVersion: SPDX-2.3" { print "its first line is " $0; bad = 1 }
      $1 == "PackageName" { name = $2; names[name] = 1; count++ }
      ($1 == "PackageVersion" || $1 == "PackageLicenseDeclared") && $2 != "" && $2 != "NOASSERTION" { has[name, $1] = 1 }
      name ~ /^(htslib|libhts)/ { htslib = 1 }
      END {
        for (each in names)
          if (!((each, "PackageVersion") in has) || !((each, "PackageLicenseDeclared") in has)) { print "no version or licence of " each; bad = 1 }
        if (!htslib || count < 5) { print "it lacks libraries"; bad = 1 }
        if (!bad) print count " packages"
        exit bad
      }' "$sbom"); then echo "right  $sbom: $said"; else wrong "$sbom: $said"; fi
done

# ---- how a program is tried: try.sh PROGRAM OUT [PYTHON]
cp "$here/smoke.sh" "$work/"
cat > "$work/try.sh" << 'TRY'
set -euo pipefail
carbon=$1 out=$2 python=${3-}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
cd "$out"
bases=ATGGCCAAGGACTTGACCATGGCATTCAGGACCTGATTCAAGGTCTACCATTGGCAAGT
printf '>a\n%s\n>b\n%s%s\n' "$bases" "$bases" "$bases" > in.fa
"$carbon" score -q --no-version in.fa > summary
date +%s.%N > end
awk -F '\t' '!/^#/ { print $7; exit }' summary > first
"$carbon" --version | head -n 1 > version
"$carbon" score -q --no-version -O tsv --strand both in.fa > score
"$carbon" generate -q --no-version -l 60 -n 2 --seed 7 in.fa > generate
cat summary score generate > bytes
if [[ $python ]]; then
  # The module has the numbers of the command.
  "$python" - "$bases" > module << 'PYTHON'
import sys
import carbon_dna
score, = carbon_dna.Model("carbon-tiny").score(sys.argv[1:])
print("%d\t%.10g" % (score.n_scored, score.sum_logp))
PYTHON
  awk -F '\t' '!/^#/ { print $5 "\t" $6; exit }' summary | cmp - module
fi
bash "$here/smoke.sh" "$carbon" > smoke
TRY
# judge ARTEFACT SYSTEM OUT BEGIN LOG: the row of what try.sh has left.
judge() {
  local seconds='-' first='-' smoke=FAILED bytes='-'
  tried=1
  [[ ! -s $3/end ]] || seconds=$(awk -v begin="$4" '{ printf "%.1f", $1 - begin }' "$3/end")
  [[ ! -s $3/first ]] || first=$(< "$3/first")
  [[ ! -s $3/smoke ]] || smoke=passed
  if [[ -s $3/bytes ]]; then
    [[ $wanted ]] || { wanted=$work/wanted; cp "$3/bytes" "$wanted"; }
    if cmp -s "$wanted" "$3/bytes"; then bytes=equal; else bytes=DIFFERENT; fi
  fi
  row "$1" "$2" "$first" "$seconds" "$smoke" "$bytes"
  if [[ $smoke != passed || $bytes != equal ]]; then
    failed=1
    echo "FAILED $1 on $2:"
    tail -n 15 "$5"
  fi
  [[ ! -s $3/version || $(< "$3/version") == "carbon $version" ]] || wrong "$1 on $2 is $(< "$3/version"), not $version"
}
version=$(printf '%s\n' * | sed -nE '/^carbon(_dna)?-[0-9]/ { s/^[^-]*-([0-9.]*[0-9]).*/\1/p; q }')
machine=$(uname -m)

# ---- bare systems
# inside ROOT COMMAND...
inside() {
  local root=$1
  shift
  unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" chroot "$root" \
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
# fresh_root: a copy of the bare system in $work/root, with the scripts in /tmp.
fresh_root() {
  rm -rf "$work/root"
  cp -a "$work/bare" "$work/root"
  cp "$work/smoke.sh" "$work/try.sh" "$work/root/tmp/"
}
# try_in_root ARTEFACT SYSTEM PROGRAM PYTHON INSTALLATION: a shell in a fresh root runs INSTALLATION, and then the program is tried.
try_in_root() {
  local begin
  begin=$(date +%s.%N)
  inside "$work/root" bash -c "set -e; $5; bash /tmp/try.sh $3 /tmp/out $4" > "$work/log" 2>&1 || true
  judge "$1" "$2" "$work/root/tmp/out" "$begin" "$work/log"
}
on_debian() {
  local system=$1 suite='' mirror archive package files wheel python
  case $system in
    debian-11) suite=bullseye ;;
    debian-12) suite=bookworm ;;
    debian-13) suite=trixie ;;
    *) fail "no system is called $system" ;;
  esac
  # shellcheck disable=SC2016 # the name is apt's
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2> /dev/null | grep -v security | head -n 1 || true)
  local reason=''
  if ((EUID != 0)); then reason="only root can make the system"
  elif ! command -v mmdebstrap > /dev/null; then reason="mmdebstrap is not installed"
  elif rm -rf "$work/bare"
    ! mmdebstrap --quiet --variant=apt --format=directory "$suite" "$work/bare" ${mirror:+"$mirror"} 2> "$work/log"; then
    reason="the system cannot be had: $(grep -m 1 '^E: ' "$work/log" || tail -n 1 "$work/log")"
  fi
  [[ ! $reason ]] || { row "all" "$system" "not tried: $reason" - - -; return; }
  cp /etc/resolv.conf "$work/bare/etc/"

  for archive in carbon-*-linux-"$machine".tar.gz; do
    [[ -f $archive ]] || continue
    fresh_root
    cp "$archive" "$work/root/tmp/"
    try_in_root "$archive" "$system" "/opt/${archive%.tar.gz}/bin/carbon" '' "tar -xzf /tmp/$archive -C /opt"
  done
  # The program alone; and with the others, but for the backend of GPUs, which wants NVIDIA's packages.
  for package in 'carbon_*.deb' '*.deb'; do
    mapfile -t files < <(cd "$system" 2> /dev/null && find . -maxdepth 1 -name "$package" ! -name '*-dbgsym_*' ! -name 'carbon-cuda_*')
    [[ ${#files[@]} -gt 0 ]] || continue
    python=''
    [[ " ${files[*]}" != *python3-carbon-dna_* ]] || python=python3
    fresh_root
    mkdir "$work/root/tmp/packages"
    (cd "$system" && cp "${files[@]}" "$work/root/tmp/packages/")
    try_in_root "$system/$package" "$system" carbon "$python" \
      "apt-get -qq update; apt-get -qq install --no-install-recommends -y /tmp/packages/*.deb"
  done
  for wheel in carbon_dna-*_"$machine".whl; do
    [[ -f $wheel ]] || continue
    fresh_root
    # Python comes first, and does not count; numpy comes from here, because the bare system may have no way to PyPI.
    inside "$work/root" bash -c "apt-get -qq update; apt-get -qq install --no-install-recommends -y python3-venv" > "$work/log" 2>&1 ||
      { row "$wheel" "$system" "not tried: python3-venv cannot be installed" - - -; continue; }
    # shellcheck disable=SC2016 # the braces are Python's
    python=$(inside "$work/root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    mkdir "$work/root/tmp/wheels"
    cp "$wheel" "$work/root/tmp/wheels/"
    python3 -m pip download -q --dest "$work/root/tmp/wheels" --only-binary :all: --python-version "$python" numpy > "$work/log" 2>&1 ||
      { row "$wheel" "$system" "not tried: numpy for Python $python cannot be had" - - -; continue; }
    try_in_root "$wheel" "$system, Python $python" /opt/venv/bin/carbon /opt/venv/bin/python \
      "python3 -m venv /opt/venv; /opt/venv/bin/pip install -q --no-index --find-links /tmp/wheels /tmp/wheels/$wheel"
  done
}
# ---- virtual environments here
on_python() {
  local wheel begin
  command -v "$1" > /dev/null || fail "there is no $1 here"
  for wheel in carbon_dna-*_"$machine".whl; do
    [[ -f $wheel ]] || continue
    rm -rf "$work/venv" "$work/out"
    begin=$(date +%s.%N)
    { "$1" -m venv "$work/venv" && "$work/venv/bin/pip" install -q "./$wheel" &&
      bash "$work/try.sh" "$work/venv/bin/carbon" "$work/out" "$work/venv/bin/python"; } > "$work/log" 2>&1 || true
    judge "$wheel" "$1 here" "$work/out" "$begin" "$work/log"
  done
}
for system in "${systems[@]}"; do
  case $system in
    debian-*) on_debian "$system" ;;
    *) on_python "$system" ;;
  esac
done

# ---- what was not tried
for other in *-linux-*.tar.gz *.whl; do
  [[ ! -f $other || $other == *"$machine"* ]] || left_out "$other: this machine is $machine"
done
for part in "carbon-*-linux-$machine.tar.gz" "carbon_dna-*_$machine.whl" 'debian-12/carbon_*.deb' 'debian-13/carbon_*.deb'; do
  if ! compgen -G "$part" > /dev/null; then
    left_out "$part: it is not in this folder"
  elif [[ $part == debian-* ]]; then
    grep -qsF "$part"$'\t' "$work/table" || left_out "$part: ${part%%/*} was not tried"
  else
    grep -qsE "^${part//\*/.*}"$'\t' "$work/table" || left_out "$part: no system was tried that takes it"
  fi
done
for part in "carbon-$version.tar.gz: make check tries the sources" "carbon-$version-image.tar: start it with podman or docker" \
  'debian-*/carbon-cuda_*.deb: it needs packages of NVIDIA' 'conda: packaging/lint.sh tries the recipe'; do
  ! compgen -G "${part%%: *}" > /dev/null || left_out "$part"
done

echo
{ printf 'artefact\tsystem\tfirst score\tseconds\tsmoke.sh\tbytes\n'; cat "$work/table" 2> /dev/null || true; } |
  awk -F '\t' '
    { for (i = 1; i <= NF; ++i) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) } }
    END { for (row = 1; row <= NR; ++row) for (i = 1; i <= NF; ++i) printf("%s", i < NF ? sprintf("%-*s  ", width[i], cell[row, i]) : cell[row, i] "\n") }'
[[ ! -s $work/left-out ]] || { echo; cat "$work/left-out"; }
((tried)) || { echo "nothing could be tried"; exit $((failed ? 1 : 2)); }
exit $failed
