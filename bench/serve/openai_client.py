"""The openai package against carbon serve. CARBON and MODEL from the environment."""

import asyncio
import base64
import json
import struct
import tempfile
import threading
import time
import urllib.request

import openai
from openai import AsyncOpenAI, OpenAI

from checks import MODEL, Server, check, done, equal, random_bases

PROMPT = "<dna>ATGGCCAAGGACATGGCC"


def completions(client):
    create = lambda **fields: client.completions.create(model=MODEL, **{"prompt": PROMPT, **fields})
    one = create(max_tokens=5, seed=7)
    equal("completion: letters", (len(one.choices[0].text), set(one.choices[0].text) <= set("ACGT")), (30, True))
    equal("completion: finish_reason and usage",
          (one.choices[0].finish_reason, one.usage.prompt_tokens, one.usage.completion_tokens, one.usage.total_tokens),
          ("length", 4, 5, 9))
    equal("completion: object and model", (one.object, one.model, one.id[:5]), ("text_completion", MODEL, "cmpl-"))
    equal("same seed, same answer", create(max_tokens=5, seed=7).choices[0].text, one.choices[0].text)
    check("another seed, another answer", create(max_tokens=5, seed=8).choices[0].text != one.choices[0].text)
    drawn = create(max_tokens=5)
    equal("a seed that the server drew gives its answer again",
          create(max_tokens=5, seed=drawn.carbon_seed).choices[0].text, drawn.choices[0].text)
    equal("temperature 0 does not depend on the seed",
          create(max_tokens=5, temperature=0, seed=1).choices[0].text, create(max_tokens=5, temperature=0, seed=2).choices[0].text)
    equal("top_k 1 in extra_body is temperature 0",
          create(max_tokens=5, seed=3, extra_body={"top_k": 1}).choices[0].text,
          create(max_tokens=5, temperature=0).choices[0].text)
    several = create(max_tokens=5, n=3, seed=7)
    equal("n 3: indices", [choice.index for choice in several.choices], [0, 1, 2])
    equal("n 3: the first is that of n 1", several.choices[0].text, one.choices[0].text)
    equal("n 3: three texts; usage", (len({c.text for c in several.choices}), several.usage.completion_tokens), (3, 15))
    equal("max_tokens default", create(seed=1).usage.completion_tokens, 16)
    equal("neutral fields and unknown ones change nothing", create(seed=7, max_tokens=5, suffix=None, best_of=None, logit_bias=None,
                                                        user="someone").choices[0].text, one.choices[0].text)
    partial = create(prompt=PROMPT[:-2], max_tokens=2, seed=1)
    equal("a prompt of 16 bases: 2 and 6 new ones, 3 tokens in, 2 out",
          (len(partial.choices[0].text), partial.usage.prompt_tokens, partial.usage.completion_tokens), (8, 3, 2))

    stop = several.choices[0].text[3:8]
    stopped = create(max_tokens=5, seed=7, stop=[stop])
    equal("stop: cut before its first place", (stopped.choices[0].text, stopped.choices[0].finish_reason),
          (one.choices[0].text[:one.choices[0].text.index(stop)], "stop"))
    equal("stop as a string", create(max_tokens=5, seed=7, stop=stop).choices[0].text, stopped.choices[0].text)

    echoed = create(max_tokens=5, seed=7, echo=True)
    equal("echo: prompt and answer", echoed.choices[0].text, PROMPT[5:] + one.choices[0].text)
    scored = create(max_tokens=0, echo=True, logprobs=0)
    equal("echo without new tokens: tokens", scored.choices[0].logprobs.tokens, ["<dna>", "ATGGCC", "AAGGAC", "ATGGCC"])
    first, *others = scored.choices[0].logprobs.token_logprobs
    equal("echo: the first token follows nothing", first, None)
    check("echo: log-probabilities are negative", all(value < 0 for value in others))
    ranked = create(max_tokens=3, seed=7, logprobs=5).choices[0]
    equal("logprobs: tokens are the text", "".join(ranked.logprobs.tokens), ranked.text)
    equal("logprobs: offsets", ranked.logprobs.text_offset, [0, 6, 12])
    check("logprobs 5: of each token at most 6, the token among them with its value",
          all(5 <= len(top) <= 6 and top[token] == value for top, token, value in
              zip(ranked.logprobs.top_logprobs, ranked.logprobs.tokens, ranked.logprobs.token_logprobs)))
    after = create(prompt=PROMPT + ranked.text, max_tokens=0, echo=True, logprobs=0).choices[0].logprobs
    equal("the answer scored as a prompt has its log-probabilities, to the bit", after.token_logprobs[4:], ranked.logprobs.token_logprobs)

    request = urllib.request.Request(f"{str(client.base_url).removesuffix('/v1/')}/tokenize", json.dumps({"prompt": PROMPT}).encode())
    ids = json.load(urllib.request.urlopen(request))["tokens"]
    equal("token ids as a prompt", create(prompt=ids, max_tokens=5, seed=7).choices[0].text, one.choices[0].text)
    both = create(prompt=[ids, ids], max_tokens=5, seed=7)
    equal("lists of token ids", both.choices[0].text, one.choices[0].text)
    prompts = [PROMPT, "<dna>TTTT", PROMPT]
    answers = create(prompt=prompts, max_tokens=5, n=2, seed=7).choices
    equal("three prompts with n 2: indices", [choice.index for choice in answers], list(range(6)))
    equal("three prompts: the first has the answers of a request alone", [c.text for c in answers[:2]],
          [c.text for c in several.choices[:2]])


def streams(client):
    plain = client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=8, seed=7, logprobs=2)
    fields = dict(model=MODEL, prompt=PROMPT, max_tokens=8, seed=7, logprobs=2, stream=True)
    events = list(client.completions.create(**fields))
    equal("stream: one event for each 6-mer", [len(event.choices[0].text) for event in events], [6] * 8)
    equal("stream: text of all events", "".join(event.choices[0].text for event in events), plain.choices[0].text)
    equal("stream: reasons", [event.choices[0].finish_reason for event in events], [None] * 7 + ["length"])
    equal("stream: one id", len({event.id for event in events}), 1)
    equal("stream: no usage unless asked", [event.usage for event in events], [None] * 8)
    equal("stream: log-probabilities", [v for event in events for v in event.choices[0].logprobs.token_logprobs],
          plain.choices[0].logprobs.token_logprobs)
    equal("stream: text_offset", [v for event in events for v in event.choices[0].logprobs.text_offset],
          plain.choices[0].logprobs.text_offset)
    events = list(client.completions.create(**fields, stream_options={"include_usage": True}))
    equal("include_usage: one event more, without choices, with usage",
          (len(events), events[-1].choices, events[-1].usage.completion_tokens, [e.usage for e in events[:-1]]),
          (9, [], 8, [None] * 8))
    samples = {}
    for event in client.completions.create(**{**fields, "n": 3}):
        samples[event.choices[0].index] = samples.get(event.choices[0].index, "") + event.choices[0].text
    equal("stream of n 3", [samples[i] for i in range(3)],
          [c.text for c in client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=8, seed=7, n=3).choices])
    stop = plain.choices[0].text[9:13]
    text = "".join(e.choices[0].text for e in client.completions.create(**{**fields, "stop": [stop], "logprobs": None}) if e.choices)
    equal("stream with a stop across 6-mers", text, plain.choices[0].text[:plain.choices[0].text.index(stop)])
    with client.completions.with_streaming_response.create(**fields) as answer:
        lines = [line for line in answer.iter_lines() if line]
    equal("stream: ends with [DONE]", lines[-1], "data: [DONE]")


def embeddings(client):
    texts = [PROMPT, "<dna>TTTTTTACGTAC"]
    base64_default = client.embeddings.create(model=MODEL, input=texts)
    floats = client.embeddings.create(model=MODEL, input=texts, encoding_format="float")
    raw = client.embeddings.create(model=MODEL, input=texts, encoding_format="base64")
    equal("embeddings: two of 256", [(d.index, len(d.embedding)) for d in base64_default.data], [(0, 256), (1, 256)])
    equal("base64 (the package's default) is float", [d.embedding for d in base64_default.data], [d.embedding for d in floats.data])
    decoded = [list(struct.unpack("<256f", base64.b64decode(d.embedding))) for d in raw.data] if isinstance(raw.data[0].embedding, str) else [
        d.embedding for d in raw.data]
    equal("encoding_format base64, asked for", decoded, [d.embedding for d in floats.data])
    equal("embeddings: usage", floats.usage.prompt_tokens, 9)
    equal("embeddings: one text", client.embeddings.create(model=MODEL, input=PROMPT).data[0].embedding, floats.data[0].embedding)
    equal("embeddings: dimensions", client.embeddings.create(model=MODEL, input=PROMPT, dimensions=5).data[0].embedding,
          floats.data[0].embedding[:5])


def models(client):
    listed = client.models.list()
    equal("models.list", ([m.id for m in listed], listed.data[0].object, listed.data[0].max_model_len), ([MODEL], "model", 4104))
    equal("models.retrieve", client.models.retrieve(MODEL).id, MODEL)


def fails(what, call, kind, code, param=None):
    try:
        call()
    except kind as error:
        equal(what, (type(error).__name__, error.code, error.param), (kind.__name__, code, param))
        check(f"{what}: says something", "error" in str(error).lower() or len(error.message) > 10, repr(error.message))
    else:
        check(what, False, "no exception")


def errors(client):
    create = client.completions.create
    fails("another model", lambda: create(model="gpt-4o", prompt=PROMPT), openai.NotFoundError, "model_not_found", "model")
    fails("models.retrieve of another model", lambda: client.models.retrieve("gpt-4o"), openai.NotFoundError, "model_not_found", "model")
    fails("no <dna>", lambda: create(model=MODEL, prompt="ACGT"), openai.BadRequestError, "dna_tag_missing", "prompt")
    fails("letters that are no bases", lambda: create(model=MODEL, prompt="<dna>hello"), openai.BadRequestError, None, "prompt")
    fails("temperature -1", lambda: create(model=MODEL, prompt=PROMPT, temperature=-1), openai.BadRequestError, None, "temperature")
    fails("best_of 4", lambda: create(model=MODEL, prompt=PROMPT, best_of=4), openai.BadRequestError, None, "best_of")
    fails("suffix", lambda: create(model=MODEL, prompt=PROMPT, suffix="ACGT"), openai.BadRequestError, None, "suffix")
    fails("logprobs 99", lambda: create(model=MODEL, prompt=PROMPT, logprobs=99), openai.BadRequestError, None, "logprobs")
    fails("beyond the context", lambda: create(model=MODEL, prompt=PROMPT, max_tokens=10000), openai.BadRequestError,
          "context_length_exceeded", "max_tokens")
    fails("chat", lambda: client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}]),
          openai.NotFoundError, "not_found")
    fails("an error before a stream begins", lambda: create(model=MODEL, prompt="ACGT", stream=True), openai.BadRequestError,
          "dna_tag_missing", "prompt")


def keys():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("sesame\nanother\n")
        file.flush()
        with Server("--api-key", file.name) as server:
            url = server.url + "/v1"
            for key in ("sesame", "another"):
                equal(f"key {key}", len(OpenAI(base_url=url, api_key=key).models.list().data), 1)
            wrong = OpenAI(base_url=url, api_key="wrong", max_retries=0)
            fails("a wrong key", lambda: wrong.completions.create(model=MODEL, prompt=PROMPT), openai.AuthenticationError, "invalid_api_key")
            fails("a wrong key, models", lambda: wrong.models.list(), openai.AuthenticationError, "invalid_api_key")
            equal("/health needs no key", urllib.request.urlopen(server.url + "/health").status, 200)


def full_queue():
    with Server("--max-queue", "1") as server:
        many = 12
        alone = OpenAI(base_url=server.url + "/v1", api_key="none")
        wanted = [alone.completions.create(model=MODEL, prompt=PROMPT, max_tokens=150, seed=i).choices[0].text for i in range(many)]
        patient = OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=60)
        hasty = OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        got, refused = [None] * many, []

        def ask(i):
            got[i] = patient.completions.create(model=MODEL, prompt=PROMPT, max_tokens=150, seed=i).choices[0].text

        def hurry(i):
            try:
                hasty.completions.create(model=MODEL, prompt=PROMPT, max_tokens=600)
            except openai.RateLimitError as error:
                refused.append((error.code, error.response.headers.get("retry-after")))

        # Of a crowd without patience most are refused, with the time to wait.
        crowd = [threading.Thread(target=hurry, args=(i,)) for i in range(many)]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        check("a full queue refuses with RateLimitError", len(refused) > 0, str(refused))
        check("queue_full, and Retry-After in seconds", all(code == "queue_full" and after and after.isdigit() for code, after in refused),
              str(set(refused)))
        crowd = [threading.Thread(target=ask, args=(i,)) for i in range(many)]
        start = time.monotonic()
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        equal(f"{many} requests at once to a queue of 1 with retries: all answered as if alone", got, wanted)
        print(f"      they took {time.monotonic() - start:.1f} s; {len(refused)} of {many} without retries were refused")


async def many_streams(url):
    client = AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    async def stream(seed):
        text = ""
        async for event in await client.completions.create(model=MODEL, prompt="<dna>" + random_bases(300, seed), max_tokens=40, seed=seed,
                                                           stream=True):
            text += event.choices[0].text
        return text

    together = await asyncio.gather(*(stream(seed) for seed in range(64)))
    alone = [(await client.completions.create(model=MODEL, prompt="<dna>" + random_bases(300, seed), max_tokens=40, seed=seed)).choices[0].text
             for seed in range(64)]
    equal("64 streams at once are the 64 answers of requests alone", together, alone)
    await client.close()


def gauge(url, name):
    for line in urllib.request.urlopen(url + "/metrics").read().decode().splitlines():
        if line.startswith(name):
            return float(line.split()[-1])
    return None


def close_early(server):
    client = OpenAI(base_url=server.url + "/v1", api_key="none")
    stream = client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=4000, n=8, stream=True)
    next(stream)
    check("before a stream is closed it is running", gauge(server.url, "vllm:num_requests_running") > 0)
    before = gauge(server.url, "vllm:generation_tokens_total")
    stream.close()
    until = time.monotonic() + 20
    while gauge(server.url, "vllm:num_requests_running") > 0 and time.monotonic() < until:
        time.sleep(0.02)
    after = gauge(server.url, "vllm:generation_tokens_total")
    equal("a closed stream stops the model", gauge(server.url, "vllm:num_requests_running"), 0)
    check("well before its end", after < 0.5 * 8 * 4000, f"{before} and {after} tokens")
    equal("its memory is free but for pages kept for later prompts", gauge(server.url, "carbon:kv_pages_in_use"),
          gauge(server.url, "carbon:kv_pages_kept"))
    equal("the server answers after it", client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=1, seed=1).usage.completion_tokens, 1)


def main():
    print("openai", openai.__version__)
    with Server() as server:
        client = OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        completions(client)
        streams(client)
        embeddings(client)
        models(client)
        errors(client)
        asyncio.run(many_streams(server.url))
        close_early(server)
    keys()
    full_queue()
    done("openai")


main()
