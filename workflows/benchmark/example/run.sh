#!/bin/bash
# Makes up data in the current folder, and runs the whole benchmark on them with carbon-tiny:
#
#   workflows/benchmark/example/run.sh [FASTA]
#
# The sequences are those of FASTA, or random ones. PYTHON names a Python with pyarrow (default: python3).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
"$python" "$here/make_data.py" made_up "$@"
snakemake -s "$here/../Snakefile" --configfile "$here/config.yaml" --config python="$python" --cores 2
cat results/benchmark.tsv
