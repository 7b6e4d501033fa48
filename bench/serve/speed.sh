#!/usr/bin/env bash
# Streams of carbon serve beside those of llama.cpp's llama-server, of vLLM's server and beside carbon generate: a checkpoint of the
# 500M shape (random weights, bf16), the same number of threads, CPU. Prompts of 1,000 bp and 1,000 bp out, 1, 4, 16 and 64 at a
# time. Runs of the programs alternate; medians are printed.
#
#   LLAMA_SERVER=llama-server LLAMA_PYTHON=python-with-gguf VLLM_PYTHON=python-with-vllm bench/serve/speed.sh
#
# llama-server can be built from the sources in the sdist of llama-cpp-python:
#   cmake -B B -DGGML_NATIVE=ON -DLLAMA_CURL=OFF vendor/llama.cpp && cmake --build B --target llama-server
# vLLM is installed as bench/peers.sh says.
# From the environment: BUILD (default build, with carbon and make_checkpoint), LLAMA_SERVER and LLAMA_PYTHON, VLLM_PYTHON (without
# them carbon alone), RUNS (3), CLIENTS (1,4,16,64), THREADS (all), LAYERS (28), LONG (a number of bases: a client with such a
# prompt comes after a second). Needs 3 GB in TMPDIR and 8 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=$(realpath "${BUILD:-build}")
runs=${RUNS:-3} clients=${CLIENTS:-1,4,16,64} threads=${THREADS:-$(nproc)} long=${LONG:-0}
work=$(mktemp -d)
server=
finish() {
  [[ -z $server ]] || kill "$server" 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# shellcheck source=bench/lib.sh
. bench/lib.sh
checkpoint "${LAYERS:-28}" "$work/model"
first_id=151669 # of the DNA tokens of the released vocabulary, which the checkpoint has

programs=(carbon)
if [[ -n ${LLAMA_SERVER:-} ]]; then
  "${LLAMA_PYTHON:-python3}" bench/peers/to_gguf.py --names "$work/model" "$work/model.gguf" > /dev/null
  programs+=(llama.cpp)
else
  echo "no LLAMA_SERVER: without llama.cpp" >&2
fi
if [[ -n ${VLLM_PYTHON:-} ]]; then programs+=(vllm); else echo "no VLLM_PYTHON: without vLLM" >&2; fi

# start PROGRAM: a server on $port.
start() {
  port=$(/usr/bin/env python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  if [[ $1 == carbon ]]; then
    "$build/carbon" serve -q -m "$work/model" -@ "$threads" --port "$port" &
  elif [[ $1 == vllm ]]; then
    VLLM_CPU_KVCACHE_SPACE=3 VLLM_CPU_OMP_THREADS_BIND="0-$((threads - 1))" VLLM_NO_USAGE_STATS=1 \
      "$VLLM_PYTHON" -m vllm.entrypoints.openai.api_server --model "$work/model" --skip-tokenizer-init --dtype bfloat16 \
        --max-model-len $((512 + long / 6)) --port "$port" > "$work/vllm.log" 2>&1 &
  else
    # Every slot has room for a prompt and its continuation. One cache for all slots (--kv-unified) makes room for a long
    # prompt, but 64 slots are many times slower with it, so it is used only then.
    local slots=64 context=$((64 * 384 + 512)) unified=()
    if [[ $long != 0 ]]; then
      unified=(--kv-unified)
      context=$((context + long / 6))
    fi
    "$LLAMA_SERVER" -m "$work/model.gguf" -t "$threads" -tb "$threads" -c "$context" -np "$slots" "${unified[@]}" --port "$port" \
        --no-warmup --no-webui > "$work/llama.log" 2>&1 &
  fi
  server=$!
  until curl -sf "http://127.0.0.1:$port/health" > /dev/null; do
    kill -0 "$server"
    sleep 0.3
  done
}
stop() {
  kill "$server"
  wait "$server" || true
  server=
}

for ((run = 1; run <= runs; ++run)); do
  for program in "${programs[@]}"; do
    start "$program"
    /usr/bin/env python3 bench/serve/load.py "$port" --clients "$clients" --ids $first_id --long "$long" |
      sed "s/^{/{\"program\": \"$program\", /" | tee -a "$work/lines"
    stop
  done
  [[ $long == 0 ]] || continue
  for n in ${clients//,/ }; do
    # As many sequences as clients, so that batches are the same; twice, as each client asks twice.
    sequences "$n" 1000 > "$work/prompts.fa"
    total=0
    for _ in 1 2; do
      timed "$build/carbon" generate -q -m "$work/model" -@ "$threads" --greedy -l 998 "$work/prompts.fa"
      total=$((total + micros))
    done
    echo "{\"program\": \"generate\", \"clients\": $n, \"tokens_per_s\": $(awk "BEGIN { print 2 * $n * 167e6 / $total }")}" |
      tee -a "$work/lines"
  done
done

LC_ALL=C lscpu | sed -n '/^Model name: */{s//CPU /p;q}'
echo "carbon $(git describe --always --dirty), $threads threads, $runs runs each, $(date -u +%F)"
/usr/bin/env python3 - "$work/lines" << 'END'
import json, statistics, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
names = ["tokens_per_s", "first_mean", "first_p99", "between_mean", "between_p99"]
print("| clients | program | tokens/s | first token, mean | p99 | between tokens, mean | p99 |\n|---|---|---|---|---|---|---|")
for clients in sorted({line["clients"] for line in lines}):
    for program in dict.fromkeys(line["program"] for line in lines):
        rows = [line for line in lines if line["program"] == program and line["clients"] == clients]
        cells = ["%.4g" % statistics.median(row[name] for row in rows) if rows and name in rows[0] else "" for name in names]
        print("| %d | %s | %s |" % (clients, program, " | ".join(cells)))
END
