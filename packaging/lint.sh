#!/usr/bin/env bash
# lint.sh [-o DIR] [--files FOLDER] [NAME...]: has the tools of those who will take the files of a release look at them.
#
#   wheel      twine check --strict, what PyPI asks of the wheels in FOLDER
#   sbom       pyspdxtools, what the SPDX project asks of the lists *.spdx in FOLDER
#   conda      conda/check.py: rattler-build reads the recipe, and rattler installs the program as built here (`make` first)
#   nextflow   workflows/nextflow/lint.sh: nf-core and reftrace; NF_CORE_MODULES may name a clone of nf-core's modules, for its schemas
#   galaxy     planemo lint, where a warning is a failure
#   citation   cffconvert --validate
#
# Without a NAME all of them. FOLDER is that of release.sh (default: release). Each gets a virtual environment of its own in DIR (default:
# build-lint), with packages from PyPI, which stays for the next time; what it says is shown, and kept in DIR/NAME.log. The last lines are the
# results. The exit status is 1 if one fails; one that cannot run here is left out, with the reason. Wants Python 3.10 or newer.
# shellcheck disable=SC2317 # the functions are called by their names
set -euo pipefail

fail() { echo "lint.sh: $*" >&2; exit 1; }
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0"; }

top=$(cd "$(dirname "$0")/.." && pwd)
all=(wheel sbom conda nextflow galaxy citation)
out=build-lint folder=release names=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) [[ $# -gt 1 ]] || fail "-o needs a folder"; out=$2; shift ;;
    --files) [[ $# -gt 1 ]] || fail "--files needs a folder"; folder=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    *) [[ " ${all[*]} " == *" $1 "* ]] || fail "there is no $1; there are ${all[*]}"; names+=("$1") ;;
  esac
  shift
done
((${#names[@]})) || names=("${all[@]}")
mkdir -p "$out"
out=$(cd "$out" && pwd)
export NO_COLOR=1

# Each says with status 3 that it cannot run, and why.
cannot() { echo "$1"; exit 3; }
# environment PACKAGE...: of the lint that runs; bin/ of it stands first on PATH.
environment() {
  local at=$out/venv-$name
  [[ -e $at/done && $(< "$at/done") == "$*" ]] || {
    rm -rf "$at"
    "${PYTHON:-python3}" -m venv "$at"
    "$at/bin/pip" install -q "$@" || cannot "pip cannot install $*"
    echo "$*" > "$at/done"
  }
  PATH=$at/bin:$PATH
}
lint_wheel() {
  compgen -G "$folder/*.whl" > /dev/null || cannot "there is no wheel in $folder"
  environment twine==6.2.0
  twine check --strict "$folder"/*.whl
}
lint_sbom() {
  compgen -G "$folder/*.spdx" > /dev/null || cannot "there is no SBOM in $folder"
  environment spdx-tools==0.8.3
  local each
  for each in "$folder"/*.spdx; do
    pyspdxtools -i "$each"
    echo "$each: valid"
  done
}
lint_conda() {
  [[ -x $top/carbon ]] || cannot "there is no $top/carbon: build it with make"
  environment py-rattler==0.28.0 py-rattler-build==0.73.0 jinja2 PyYAML
  rm -rf "$out/staged"
  make -s -C "$top" install DESTDIR="$out/staged" prefix=/opt
  python3 "$top/packaging/conda/check.py" "$out/staged/opt"
}
lint_nextflow() { "$top/workflows/nextflow/lint.sh" ${NF_CORE_MODULES:+"$NF_CORE_MODULES"}; }
lint_galaxy() { environment planemo==0.75.47; planemo --version; planemo lint --fail_level warn "$top/workflows/galaxy"; }
lint_citation() { environment cffconvert==2.0.0 'setuptools<81'; cffconvert --validate -i "$top/CITATION.cff"; }

results=() failed=0
for name in "${names[@]}"; do
  echo "== lint.sh: $name"
  started=$SECONDS status=0
  # Not in a condition, where bash would go on after a command that fails.
  set +e
  (set -e; "lint_$name") > "$out/$name.log" 2>&1 < /dev/null
  status=$?
  set -e
  cat "$out/$name.log"
  case $status in
    0) result=passed ;;
    3) result="left out: $(tail -n 1 "$out/$name.log")" ;;
    *) result=FAILED failed=1 ;;
  esac
  results+=("$(printf '%-10s %4d s  %s' "$name" $((SECONDS - started)) "$result")")
done
echo
printf '%s\n' "${results[@]}"
exit $failed
