#!/usr/bin/env bash
# Runs the checks of the CUDA backend, in small sizes, under each tool of NVIDIA's compute-sanitizer:
#   test/gpu/sanitize.sh build/check_gpu [OPTION OF check_gpu]...
# Exit status 77 where there is no compute-sanitizer (a part of the CUDA toolkit) or no GPU.
set -euo pipefail
program=$(realpath "$1")
shift
sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer || true)
if [[ -z $sanitizer ]]; then
  echo "SKIPPED: no compute-sanitizer in PATH or /usr/local/cuda/bin; it comes with the CUDA toolkit" >&2
  exit 77
fi
status=0
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  code=0
  "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" --small "$@" || code=$?
  ((code != 77)) || exit 77
  ((code == 0)) || { echo "== $tool: exit status $code" >&2; status=1; }
done
exit "$status"
