#!/usr/bin/env bash
# Builds carbon for AArch64 on another machine and tests it under emulation (QEMU): the unit tests of kernels on every
# instruction set, agreement with Hugging Face transformers, some tests of commands, and scores beside those of this machine's
# own program. Not part of `make check`: emulation takes long (products of bf16 pairs above all), and it says nothing about speed.
#
# Needs Debian 12 with the packages g++-aarch64-linux-gnu, qemu-user, autoconf, python3-numpy and what ./install-deps.sh
# installs; this machine's own program and test/tools/make_checkpoint, built by make. The libraries for AArch64 come from
# MIRROR into a folder of the build; the packages of this machine are not touched.
# From the environment: BUILD (build-aarch64), NATIVE (build), SYSROOT (a folder of BUILD), JOBS, MIRROR, CARBON_SHARED and PYTHON
# as in test/run.sh. WINDOWS=1 adds the agreement over windows of 8,192 and 24,000 bp, which takes many hours.
# The last line is "N passed, N failed"; test/aarch64/result.txt says what has run.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${BUILD:-build-aarch64}
native=${NATIVE:-build}
triplet=aarch64-linux-gnu
mirror=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$build/logs"
build_path=$(realpath "$build")
sysroot=${SYSROOT:-$build_path/sysroot}
cross="$triplet-g++ --sysroot=$sysroot"
jobs=${JOBS:-$(nproc)}
python=${PYTHON:-/usr/bin/python3}
passed=0 failed=0 parts=()

die() { echo "test/aarch64/run.sh: $*" >&2; exit 1; }
for program in "$triplet-g++" qemu-aarch64 autoconf apt-get dpkg; do
  command -v "$program" > /dev/null || die "no $program; see the top of this file for the packages"
done
for program in carbon make_checkpoint; do
  [[ -x $native/$program ]] || die "no $native/$program to compare with; run make $native/$program"
done

# fetch: the libraries that carbon is built from, of Debian for arm64, unpacked into the sysroot. apt has a root of its own.
fetch() {
  [[ -e $sysroot/complete ]] && return
  local root=$build_path/apt codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$sysroot"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" > "$root/sources.list"
  : > "$root/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false
    -o APT::Sandbox::User="$(id -un)" -o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::Lists="$root/lists" -o Dir::State::status="$root/status"
    -o Dir::Cache="$root/cache" -o Debug::NoLocking=true)
  local packages
  mapfile -t packages < <(awk '/^[^#]/ { print $2 }' packaging/libraries)
  "${apt[@]}" update
  "${apt[@]}" -y --download-only install "${packages[@]}" libbigwig-dev > /dev/null
  for package in "$root"/cache/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  touch "$sysroot/complete"
}

# emulated CPU PROGRAM NAME: a program under $build that runs another one on an emulated CPU.
emulated() {
  printf '#!/bin/sh\nexec qemu-aarch64 -cpu %s -L %s %s "$@"\n' "$1" "$sysroot" "$build_path/$2" > "$build/$3"
  chmod +x "$build/$3"
}

# part NAME COMMAND...: begins a part as soon as fewer than $jobs run. report waits for all and prints, for each in order, the
# lines of its log that have counts or figures.
part() {
  local name=$1 log=$build/logs/${1//[ ,:\/]/_}.log
  shift
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
  { "$@" > "$log" 2>&1 && echo ok || echo FAILED; } > "$log.status" &
  parts+=("$name")
}
report() {
  wait
  local name log status
  for name in "${parts[@]}"; do
    log=$build/logs/${name//[ ,:\/]/_}.log
    status=$(cat "$log.status")
    if [[ $status == ok ]]; then ((++passed)); else ((++failed)); fi
    echo "$status $name"
    grep -aE '^\[doctest\] (test cases|assertions)|^    |SKIPPED|[0-9]+ passed, [0-9]+ failed' "$log" | sed 's/^ */    /' || true
    [[ $status == ok ]] || tail -n 40 "$log" | sed 's/^/    > /'
  done
  parts=()
}

# isa PROGRAM EXPECTED: the instruction set that the program names is the expected one.
isa() {
  local named
  named=$("$1" --version | sed -n 's/^CPU //p')
  echo "    --version names $named"
  [[ $named == "$2" ]]
}

# An instruction set that the CPU lacks is refused in one line, with those that it has.
refusal() {
  local said status=0
  said=$(CARBON_FORCE_ISA=neon_bf16 "$1" --version 2>&1) || status=$?
  echo "    $said"
  [[ $status == 1 && $said == *'does not have instruction set "neon_bf16"'*'generic, neon'* && $said != *$'\n'* ]]
}

# built: the programs, without a warning.
built() {
  make -j"$jobs" CXX="$cross" AR="$triplet-ar" BUILD="$build" WITH_CUDA=no "$build/carbon" "$build/unit" \
    > "$build/logs/make.txt" 2>&1 || { tail -n 40 "$build/logs/make.txt"; return 1; }
  ! grep -E 'warning:' "$build/logs/make.txt"
}

# configured: ./configure --host, in a folder of its own.
configured() {
  mkdir -p "$build/configured"
  autoconf -o "$build/configured/configure"
  cp config.mk.in VERSION "$build/configured/"
  mkdir -p "$build/configured/src/cli" && touch "$build/configured/src/cli/main.cpp"
  (cd "$build/configured" && ./configure -q --host="$triplet" CXX="$cross" --with-cuda=no)
  sed -n 's/^\(CXX\|AR\|WITH_[A-Z]*\) *= */\1 = /p' "$build/configured/config.mk" | sed "s,$sysroot,SYSROOT," | sed 's/^/    /'
}

fetch
echo "compiler: $("$triplet-g++" --version | head -n 1)"
echo "emulator: $(qemu-aarch64 --version | head -n 1)"
echo "libraries: Debian $(. /etc/os-release && echo "$VERSION_ID") for arm64, $(printf '#include <features.h>\nglibc __GLIBC__.__GLIBC_MINOR__' |
  $cross -E -P -x c++ - | tail -n 1 | tr -d ' ' | sed 's/glibc/glibc /')"
part "configure for the host $triplet" configured
part "make, without a warning" built
report
((failed == 0)) || die "nothing to test"

export CARBON_MODEL=$PWD/models/carbon-tiny
CARBON_SHARED=$(realpath -m "${CARBON_SHARED:-../shared}")
export CARBON_SHARED
windows=${WINDOWS:+$CARBON_SHARED}
for cpu in max cortex-a76 cortex-a72; do
  emulated "$cpu" carbon "carbon-$cpu"
  emulated "$cpu" unit "unit-$cpu"
done
# Started by an emulated program, a program runs on this machine, so it must be this machine's.
CARBON_MAKE_CHECKPOINT=$(realpath "$native/make_checkpoint")
export CARBON_MAKE_CHECKPOINT

part "cpu max: newest instruction set" isa "$build/carbon-max" neon_bf16
part "cpu cortex-a76: newest instruction set" isa "$build/carbon-cortex-a76" neon_dotprod
part "cpu cortex-a72: newest instruction set" isa "$build/carbon-cortex-a72" neon
part "cpu cortex-a72: an instruction set that it lacks" refusal "$build/carbon-cortex-a72"
part "cpu max: unit tests of kernels, every instruction set" "$build/unit-max" --no-colors=true -sf='*/kernels_*'
part "cpu cortex-a72: unit tests of kernels" "$build/unit-cortex-a72" --no-colors=true -sf='*/kernels_*'
for cpu in max cortex-a72; do
  part "cpu $cpu: recorded bits" "$build/unit-$cpu" --no-colors=true -sf='*/exact_bits_test.cpp'
  part "cpu $cpu: agreement with transformers" env CARBON="$build_path/carbon-$cpu" \
    CARBON_SHARED="${windows:-$build_path/no_windows}" "$python" test/golden/check_parity.py
done
part "cpu max: the same scores and letters as this machine" "$python" test/aarch64/compare.py "$native/carbon" "$build/carbon-max"
# Two tests that compare many divisions of the same work would take hours; those of kernels, above, compare them too.
part "cpu max: unit tests of the decoder, samplers, tokenizers and files of models" "$build/unit-max" --no-colors=true \
  -sf='*/decoder_test.cpp,*/samplers_test.cpp,*/tokenizer_test.cpp,*/model_*_test.cpp' \
  -tce="*row's bits do not depend on threads*"
for name in score vep generate_inputs; do
  part "cpu max: test/cli/${name}_test.py" env CARBON="$build_path/carbon-max" "$python" "test/cli/${name}_test.py"
done
report
echo "$passed passed, $failed failed"
((failed == 0))
