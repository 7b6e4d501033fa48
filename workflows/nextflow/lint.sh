#!/bin/bash
# Lints the modules with nf-core and reftrace, which it installs from PyPI into a temporary folder:
#
#   workflows/nextflow/lint.sh [NF-CORE-MODULES]
#
# nf-core reads two schemas from its repository of modules. NF-CORE-MODULES is a clone of it (bare is enough); without one,
# these files are fetched from GitHub, and where that fails, the checks of the schemas pass on anything and are not counted.
# Wants Python 3.10 or newer, git and pip; with Nextflow on PATH, more checks run. `make check` does not run this script.
# The exit status is 1 if a check fails that could run here.
set -euo pipefail

(($# <= 1)) || { echo "usage: lint.sh [NF-CORE-MODULES]" >&2; exit 2; }
remote=https://github.com/nf-core/modules.git
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q nf-core==4.2.1 reftrace==0.6.0

# Settings and caches of these programs lie in the temporary folder. Nextflow keeps its own, which has the program itself.
mkdir "$work/home"
export NXF_HOME=${NXF_HOME:-$HOME/.nextflow}
export HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_CACHE_HOME=$work/home NFCORE_NO_VERSION_CHECK=1 GIT_TERMINAL_PROMPT=0
git config --global init.defaultBranch master
git config --global user.name lint
git config --global user.email lint@example.org

# nf-core clones all of its repository. A small one with the three files that it reads takes its place.
source=${1:+$(cd "$1" && pwd)}
if [[ -z $source ]] && git clone -q --bare --depth 1 --filter=blob:none $remote "$work/upstream" 2> "$work/clone.log"; then
  source=$work/upstream
fi
repository=$work/remote
mkdir -p "$repository/modules"
printf 'repository_type: modules\norg_path: nf-core\n' > "$repository/.nf-core.yml"
for file in modules/meta-schema.json modules/environment-schema.json; do
  if [[ -n $source ]]; then
    git -C "$source" show "HEAD:$file" > "$repository/$file"
  else
    echo '{}' > "$repository/$file"
  fi
done
[[ -n $source ]] && schemas=present || schemas=absent

# What is linted: a repository of modules with copies of ours. registry.example.org is the placeholder of their containers.
modules=$work/modules
mkdir -p "$modules/modules/nf-core"
cp -R "$here/modules/carbon" "$modules/modules/nf-core/"
printf 'repository_type: modules\norg_path: nf-core\n' > "$modules/.nf-core.yml"
for folder in "$repository" "$modules"; do
  git -C "$folder" init -q
  git -C "$folder" add -A
  git -C "$folder" commit -q -m "what lint reads"
done
git config --global "url.$repository.insteadOf" $remote

status=0
"$work/venv/bin/python" "$here/lint.py" "$modules" "$schemas" < /dev/null || status=1

echo
echo "reftrace, with the rules that it generates:"
cd "$work"
"$work/venv/bin/reftrace" generate > /dev/null
"$work/venv/bin/reftrace" lint -d "$modules" || status=1
exit $status
