#!/usr/bin/env bash
# Builds the last commit on the other one of Debian 12 and 13 than this machine's, where a warning is an error, and runs
# `make quick` there: in a temporary system that mmdebstrap makes. Part of continuous integration.
#
# If the build files, the dependencies and that release are as they were when this last passed (test/unchanged.py), the program is only
# checked by its compiler. ALL=1 builds and tests in any case, and RECORD=1 notes that it has passed.
#
# Needs Debian 12 or 13, root, mmdebstrap, and the mirror of this machine's apt. Where it cannot run it says SKIPPED and why, with
# exit status 0.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "SKIPPED: the other Debian release: $*"
  exit 0
}

release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2> /dev/null || true)
case $release in
  bookworm) other=trixie ;;
  trixie) other=bookworm ;;
  *) skip "this is neither Debian 12 nor 13" ;;
esac
((EUID == 0)) || skip "only root can install it"
command -v mmdebstrap > /dev/null || skip "mmdebstrap is not installed (./install-deps.sh --fuzz)"
# shellcheck disable=SC2016 # the name is apt's
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" | head -n 1)
[[ $mirror ]] || skip "apt has no mirror of $release"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The number of its last point release; without one it is not noted.
python=${PYTHON:-/usr/bin/python3}
point=$("$python" -c 'import sys, urllib.request
for line in urllib.request.urlopen(sys.argv[1], timeout=60).read(4000).decode().splitlines():
    if line.startswith("Version: "): print(line.split()[1])' "${mirror%/}/dists/$other/InRelease" 2> /dev/null || true)
unchanged=("the-other-release-$other-$point" build test/other_release.sh)
how=quick
[[ ${ALL:-} || ! $point ]] || ! "$python" test/unchanged.py "${unchanged[@]}" || how=syntax
echo "Debian $other ${point:-}: $([[ $how == quick ]] && echo "built and tested" || echo "checked by the compiler, as nothing of the build has changed")"
git archive -o "$work/carbon.tar" HEAD
# Less is optimised than in a real build, because that is compiled faster.
cat > "$work/build.sh" << END
set -eu
mkdir /carbon
tar -x -C /carbon -f /tmp/carbon.tar
exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \\
  make -C /carbon -s -j2 $how WITH_CUDA=no CXXFLAGS="-O1 -Wall -Wextra -Werror"
END
status=0
# shellcheck disable=SC2016 # $1 is the hook's: the folder of the new system
mmdebstrap --quiet --format=null --variant=apt --components=main --include="$(./install-deps.sh --list | paste -sd,)" \
  --customize-hook="copy-in $work/carbon.tar $work/build.sh /tmp" --customize-hook="touch $work/installed" \
  --customize-hook='chroot "$1" sh /tmp/build.sh >&2' \
  "$other" /dev/null "$mirror" 2> >(tee "$work/messages" >&2) || status=$?
if ((status != 0)) && [[ ! -e $work/installed ]]; then
  skip "its packages cannot be had: $(grep -m 1 '^E: ' "$work/messages" || tail -n 1 "$work/messages")"
fi
if ((status == 0)) && [[ ${RECORD:-} && $point && $how == quick ]]; then "$python" test/unchanged.py --record "${unchanged[@]}"; fi
exit $status
