#!/usr/bin/env bash
# `make check-isa`: every part of the tests once for each instruction set in ISAS, so that one machine tests what others run.
# Without ISAS: for all but the newest that the program knows, and those that this CPU lacks are left out with a message.
# From the environment: what test/run.sh takes. The last line names the sets that failed, or says that none did.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

failed=()
older="avx512_bf16 avx512_vnni avx512 avx2 generic"
[[ $(uname -m) != aarch64 ]] || older="neon_dotprod neon generic"
for isa in ${ISAS:-$older}; do
  if [[ -z ${ISAS:-} ]] && ! message=$(CARBON_FORCE_ISA=$isa "${BUILD:-build}/carbon" --version 2>&1); then
    echo "== $isa: SKIPPED: $message"
    continue
  fi
  echo "== $isa"
  CARBON_FORCE_ISA=$isa test/run.sh || failed+=("$isa")
done
if ((${#failed[@]})); then
  echo "failed on: ${failed[*]}"
  exit 1
fi
echo "no instruction set failed"
