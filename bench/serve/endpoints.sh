#!/usr/bin/env bash
# Every endpoint of carbon serve once by curl, statuses and a word of the answers checked. endpoints.sh URL
# The server has a reference (-f) with a sequence chr1 that begins with ATGGCC.
set -euo pipefail
url=$1 wrong=0 count=0
body=$(mktemp)
trap 'rm -f "$body"' EXIT

# expect STATUS TEXT PATH [options of curl]: a line; TEXT is part of the answer's headers or body, or empty.
expect() {
  local status=$1 text=$2 path=$3 got
  shift 3
  got=$(curl -s -i -o "$body" -w '%{http_code}' -m 30 "$@" "$url$path" || true)
  ((++count))
  if [[ $got == "$status" ]] && grep -qiF -- "$text" "$body"; then
    echo "ok    $status $path"
  else
    echo "WRONG $path $*: got $got, expected $status and \"$text\": $(tail -c 300 "$body")"
    ((++wrong))
  fi
}

curl --version | head -n 1 | cut -d' ' -f1,2
expect 200 '<title>carbon' /
expect 200 'text/javascript' /page.js
expect 200 'image/svg' /icon.svg
expect 200 'content-security-policy' /
expect 200 '"status":"ok"' /health
expect 200 'vllm:num_requests_running' /metrics
expect 200 '"version"' /version
expect 200 '"carbon-tiny"' /v1/models
expect 200 '"carbon-tiny"' /v1/models/carbon-tiny
expect 200 '"text_completion"' /v1/completions -d '{"prompt":"<dna>ATGGCC","max_tokens":2}'
expect 200 '[DONE]' /v1/completions -d '{"prompt":"<dna>ATGGCC","max_tokens":2,"stream":true}'
expect 200 '"embedding"' /v1/embeddings -d '{"input":"<dna>ATGGCC"}'
expect 200 '"tokens":[0,509' /tokenize -d '{"prompt":"<dna>ATGGCC"}'
expect 200 '<dna>' /detokenize -d '{"tokens":[0,509]}'
expect 200 '"n_scored":6' /v1/dna/score -d '{"sequences":["ATGGCC"]}'
expect 200 '"samples"' /v1/dna/generate -d '{"prompt":"ATGGCC","length":12}'
expect 200 '[DONE]' /v1/dna/generate -d '{"prompt":"ATGGCC","length":12,"stream":true}'
expect 200 '"flag":null' /v1/dna/variants -d '{"variants":[{"chrom":"chr1","pos":2,"ref":"T","alt":"C"}]}'
expect 200 '"letters":"ACGT"' /v1/dna/scan -d '{"sequence":"ATGGCC"}'
expect 200 'x-request-id: mine-1' /health -H 'X-Request-Id: mine-1'
expect 200 'content-length' /health -I
expect 200 '' /v1/completions --http2 -d '{"prompt":"<dna>ATGGCC","max_tokens":1}'
expect 200 '"text_completion"' /v1/completions -H 'Content-Type: application/json' -H 'Expect: 100-continue' \
  -d '{"prompt":"<dna>ATGGCC","max_tokens":1}'
expect 200 '"text_completion"' /v1/completions -H 'Transfer-Encoding: chunked' -d '{"prompt":"<dna>ATGGCC","max_tokens":1}'
expect 400 '"error"' /v1/completions -d '{"prompt":'
expect 400 'dna_tag_missing' /v1/completions -d '{"prompt":"ATGGCC"}'
expect 400 '"param":"lenght"' /v1/dna/generate -d '{"length":12,"lenght":12}'
expect 404 'model_not_found' /v1/completions -d '{"prompt":"<dna>ATGGCC","model":"gpt-4o"}'
expect 404 '"not_found"' /v1/chat/completions -d '{}'
expect 405 'method_not_allowed' /v1/completions
expect 405 'allow:' /v1/models -d '{}'
head -c 20000000 /dev/zero | tr '\0' A > "$body.large"
expect 413 '"error"' /v1/completions --data-binary "@$body.large"
rm -f "$body.large"
echo "curl: $count requests, $wrong wrong"
exit $((wrong > 0))
