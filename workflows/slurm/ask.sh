#!/bin/bash
# Sends a request to the server of serve.sbatch:
#
#   workflows/slurm/ask.sh DIRECTORY PATH [options of curl]
#   workflows/slurm/ask.sh served /v1/dna/score -d @request.json
#
# It waits until the server is ready: at most CARBON_WAIT seconds, 600 if that is not set. A server that was killed may leave
# the address behind; curl then says that it cannot connect.
set -euo pipefail

(($# >= 2)) || { echo "usage: ask.sh DIRECTORY PATH [options of curl]" >&2; exit 1; }
directory=$1 path=$2
shift 2
until [[ -s $directory/url ]]; do
  ((SECONDS < ${CARBON_WAIT:-600})) || { echo "ask.sh: no server has written $directory/url" >&2; exit 1; }
  sleep 0.5
done
# The key goes through a pipe, because all users of a node can read the arguments of a program.
curl -sS --fail-with-body -H @<(printf 'Authorization: Bearer %s\n' "$(< "$directory/key")") "$@" "$(< "$directory/url")$path"
