#!/usr/bin/env bash
# carbon serve against the clients that people have: the openai package, LangChain, LiteLLM, guidellm, `vllm bench serve`, sglang's
# serving benchmark, the requests of Carbon's own harness, curl, and the page in a headless Chromium. Every part starts a server of its
# own with carbon-tiny. Tables of the benchmarks show that they run and count right; carbon-tiny is too small for its speed to mean much.
#
#   BUILD=build bench/serve/clients.sh [PART...]
#
# Parts (all by default): openai langchain litellm harness curl guidellm vllm sglang page.
#
# From the environment: BUILD (default build, with carbon), VENV (a folder, filled if it is not there; default a temporary one,
# 7 GB because guidellm and vllm want torch), PYTHON (python3), CHROMIUM (/usr/bin/chromium), SHOTS (a folder for pictures of the page).
# vllm and sglang are installed without their dependencies for GPUs: only their benchmark clients can run, and that is all we need.
set -euo pipefail
cd "$(dirname "$0")/../.."

CARBON=$(realpath "${BUILD:-build}")/carbon MODEL=$(realpath models/carbon-tiny) here=$PWD/bench/serve
export CARBON MODEL PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1
work=$(mktemp -d)
server=
finish() {
  [[ -z $server ]] || kill "$server" 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT
venv=${VENV:-$work/venv}
parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(openai langchain litellm harness curl guidellm vllm sglang page)

if [[ ! -x $venv/bin/pip ]]; then
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install -q openai langchain-openai litellm guidellm playwright transformers==5.19.0 torchvision
  # What the two clients import, of the requirements that vllm 0.33.0 and sglang 0.5.23 declare.
  "$venv/bin/pip" install -q aiohttp anthropic apache-tvm-ffi==0.1.11 blake3 cachetools cbor2 cloudpickle compressed-tensors==0.18.0 einops \
    'fastapi<0.137' gguf ijson IPython jsonschema lark 'llguidance<1.8,>=1.7.6' mcp model-hosting-container-standards msgspec orjson \
    'oss-harmony>=0.0.11' partial-json-parser pillow prometheus-fastapi-instrumentator prometheus_client psutil py-cpuinfo pybase64 \
    python-json-logger pyzmq regex requests sentencepiece setproctitle tiktoken transformers==5.19.0 uvicorn uvloop watchfiles xgrammar==0.2.8
  "$venv/bin/pip" install -q --no-deps vllm==0.33.0 sglang==0.5.23
fi

# serve [OPTIONS]: a fresh server, so that no client finds the prompts of another in the prefix cache; sets url.
serve() {
  stop
  "$CARBON" serve -q -m "$MODEL" --port 0 --port-file "$work/port" "$@" &
  server=$!
  until [[ -s $work/port ]]; do
    kill -0 "$server"
    sleep 0.1
  done
  url=http://127.0.0.1:$(cat "$work/port")
}
stop() {
  [[ -z $server ]] || { kill "$server" && wait "$server"; }
  server=
}

# quietly COMMAND...: its standard error only if it fails.
quietly() { "$@" 2> "$work/stderr" || { tail -n 30 "$work/stderr" >&2 && return 1; }; }

sixteen() { # 16 prompts of 1,000 bp; 167 tokens are the 6-mers of 1,000 bp
  [[ -s $work/prompts.jsonl ]] || quietly "$venv/bin/python" "$here/prompts.py" "$work" 16 1000 167
}

openai() { "$venv/bin/python" "$here/openai_client.py"; }
langchain() { "$venv/bin/python" "$here/langchain_client.py"; }
litellm() { "$venv/bin/python" "$here/litellm_client.py"; }
harness() { "$venv/bin/python" "$here/harness.py"; }
page() { "$venv/bin/python" "$here/page.py"; }

curl_all() {
  awk 'BEGIN { srand(1); print ">chr1"; s = "ATGGCC"; for (i = 0; i < 1000; ++i) s = s substr("ACGT", 1 + int(4 * rand()), 1)
    print s }' > "$work/ref.fa"
  serve -f "$work/ref.fa"
  "$here/endpoints.sh" "$url"
}

guidellm() {
  sixteen
  serve
  quietly "$venv/bin/guidellm" run --backend "kind=openai_http,target=$url,request_format=/v1/completions" \
    --profile kind=concurrent,streams=16 --constraint kind=max_requests,count=16 \
    --tokenizer "kind=huggingface_auto,model=$work/tokenizer" --data "kind=json_file,path=$work/prompts.jsonl" \
    --output "kind=json,path=$work/guidellm.json" --disable-progress | sed "s|$work/||"
  "$venv/bin/python" "$here/benchmark_counts.py" guidellm "$work/guidellm.json"
}

vllm() {
  sixteen
  serve
  quietly "$venv/bin/vllm" bench serve --backend openai --base-url "$url" --endpoint /v1/completions --model carbon-tiny \
    --tokenizer "$work/tokenizer" --dataset-name custom --dataset-path "$work/prompts.jsonl" --custom-output-len 167 \
    --skip-chat-template --num-prompts 16 --max-concurrency 16 --ignore-eos --temperature 0 \
    --ready-check-timeout-sec 60 --save-result --result-filename "$work/vllm.json" | sed -n '/==== Serving/,/^=====*$/p'
  "$venv/bin/python" "$here/benchmark_counts.py" vllm "$work/vllm.json"
}

sglang() {
  sixteen
  local backend
  for backend in sglang-oai vllm; do
    serve
    quietly "$venv/bin/python" -m sglang.benchmark.serving --backend "$backend" --base-url "$url" --model carbon-tiny \
      --tokenizer "$work/tokenizer" --dataset-name custom --dataset-path "$work/conversations.jsonl" --sharegpt-output-len 167 \
      --num-prompts 16 --max-concurrency 16 --temperature 0 --output-file "$work/sglang.$backend.json" | sed -n '/==== Serving/,/^=====*$/p'
    "$venv/bin/python" "$here/benchmark_counts.py" sglang "$work/sglang.$backend.json"
  done
}

LC_ALL=C lscpu | sed -n '/^Model name: */{s//CPU /p;q}'
echo "checkout $(git describe --always --dirty); carbon built $(date -u -r "$CARBON" '+%F %T'), sha256 $(sha256sum "$CARBON" | cut -c1-16)," \
  "$("$CARBON" --version | sed -n 's/^CPU //p'), $(nproc) cores, $(date -u +%F)"
"$venv/bin/pip" list 2> /dev/null | grep -E '^(openai|langchain-openai|litellm|guidellm|vllm|sglang|playwright|torch|transformers) ' | tr -s ' '
failed=()
for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  name=$part
  [[ $part != curl ]] || name=curl_all
  # A part of its own shell, so that set -e holds in it.
  set +e
  (
    set -e
    trap 'stop' EXIT
    "$name"
  )
  status=$?
  set -e
  [[ $status == 0 ]] || failed+=("$part")
done
echo
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all parts well"
