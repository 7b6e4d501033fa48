"""Whether a benchmark client counted 16 requests that ended well and 167 tokens of each. benchmark_counts.py CLIENT FILE"""

import json
import sys

from checks import done, equal

client, path = sys.argv[1:]
text = open(path).read()
if client == "guidellm":
    requests = json.loads(text)["benchmarks"][0]["requests"]
    equal("guidellm: requests that ended well, broken off, with errors",
          tuple(len(requests[kind]) for kind in ("successful", "incomplete", "errored")), (16, 0, 0))
    equal("guidellm: tokens in and out", {(r["prompt_tokens"], r["output_tokens"]) for r in requests["successful"]}, {(167, 167)})
    equal("guidellm: letters of each answer", {(len(r["output"]), set(r["output"]) <= set("ACGT")) for r in requests["successful"]},
          {(998, True)})
else:
    result = json.loads(text.splitlines()[0])
    # vllm takes prompt tokens from the server, sglang from the tokenizer, where the last 4 bases are a token more.
    equal(f"{client}: requests, tokens in and out", (result["completed"], result["total_input_tokens"], result["total_output_tokens"]),
          (16, 16 * (168 if client == "sglang" else 167), 16 * 167))
done(client)
