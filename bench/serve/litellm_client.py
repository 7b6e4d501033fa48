"""LiteLLM against carbon serve: text_completion and embedding. CARBON and MODEL from the environment."""

import asyncio
import importlib.metadata
import os
import tempfile

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # asks the network for nothing

import litellm  # noqa: E402
import openai  # noqa: E402

from checks import MODEL, Server, check, done, equal  # noqa: E402

PROMPT = "<dna>ATGGCCAAGGACATGGCC"
NAME = "text-completion-openai/" + MODEL


def completions(url):
    plain = openai.OpenAI(base_url=url, api_key="none")
    wanted = lambda **fields: plain.completions.create(model=MODEL, prompt=PROMPT, **fields)
    create = lambda **fields: litellm.text_completion(
        **{"model": NAME, "prompt": PROMPT, "api_base": url, "api_key": "none", "num_retries": 0, **fields})
    text = wanted(max_tokens=5, seed=7).choices[0].text
    one = create(max_tokens=5, seed=7)
    equal("completion", one.choices[0].text, text)
    equal("usage and finish_reason", (one.usage.prompt_tokens, one.usage.completion_tokens, one.choices[0].finish_reason), (4, 5, "length"))
    events = list(create(max_tokens=5, seed=7, stream=True))
    equal("stream", "".join(event.choices[0].text or "" for event in events), text)
    equal("stream: each piece is a 6-mer", {len(event.choices[0].text) for event in events if event.choices[0].text}, {6})

    async def awaited():
        whole = await litellm.atext_completion(model=NAME, prompt=PROMPT, api_base=url, api_key="none", max_tokens=5, seed=7)
        pieces = await litellm.atext_completion(model=NAME, prompt=PROMPT, api_base=url, api_key="none", max_tokens=5, seed=7, stream=True)
        return whole.choices[0].text, "".join([event.choices[0].text or "" async for event in pieces])

    equal("atext_completion, whole and as a stream", asyncio.run(awaited()), (text, text))
    several = create(max_tokens=5, n=3, seed=7)
    equal("n 3", [choice.text for choice in several.choices], [choice.text for choice in wanted(max_tokens=5, n=3, seed=7).choices])
    prompts = [PROMPT, "<dna>TTTT"]
    equal("two prompts", [choice.text for choice in create(prompt=prompts, max_tokens=5, seed=7).choices],
          [choice.text for choice in plain.completions.create(model=MODEL, prompt=prompts, max_tokens=5, seed=7).choices])
    equal("temperature 0", create(max_tokens=5, temperature=0).choices[0].text, wanted(max_tokens=5, temperature=0).choices[0].text)
    equal("stop", create(max_tokens=5, seed=7, stop=text[8:14]).choices[0].text, text[:text.index(text[8:14])])
    scored = create(max_tokens=0, echo=True, logprobs=0)
    equal("echo without new tokens", scored.choices[0].logprobs.token_logprobs,
          wanted(max_tokens=0, echo=True, logprobs=0).choices[0].logprobs.token_logprobs)
    equal("extra_body", create(max_tokens=5, seed=3, extra_body={"top_k": 1}).choices[0].text, wanted(max_tokens=5, temperature=0).choices[0].text)
    for what, fields, kind in (("a prompt without <dna>", {"prompt": "ACGT"}, litellm.BadRequestError),
                               ("another model", {"model": "text-completion-openai/gpt-4o"}, litellm.NotFoundError)):
        try:
            create(max_tokens=1, **fields)
            check(what, False, "no exception")
        except kind as error:
            check(what, "<dna>" in str(error) or "gpt-4o" in str(error), str(error))


def embeddings(url):
    plain = openai.OpenAI(base_url=url, api_key="none")
    texts = [PROMPT, "<dna>TTTTTTACGTAC"]
    wanted = plain.embeddings.create(model=MODEL, input=texts)
    got = litellm.embedding(model="openai/" + MODEL, input=texts, api_base=url, api_key="none")
    equal("embedding", [one["embedding"] for one in got.data], [one.embedding for one in wanted.data])
    equal("embedding: usage", got.usage.prompt_tokens, wanted.usage.prompt_tokens)
    short = litellm.embedding(model="openai/" + MODEL, input=texts, api_base=url, api_key="none", encoding_format="float",
                              dimensions=5, allowed_openai_params=["dimensions"])
    equal("dimensions", [one["embedding"] for one in short.data], [one.embedding[:5] for one in wanted.data])


def keys():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("sesame\n")
        file.flush()
        with Server("--api-key", file.name) as server:
            ask = lambda key: litellm.text_completion(model=NAME, prompt=PROMPT, api_base=server.url + "/v1", api_key=key, max_tokens=2,
                                                      num_retries=0)
            equal("a key", len(ask("sesame").choices[0].text), 12)
            try:
                ask("wrong")
                check("a wrong key", False, "no exception")
            except litellm.AuthenticationError as error:
                check("a wrong key", True, str(error))


def router(url):
    deployment = {"model": NAME, "api_base": url, "api_key": "none"}
    balanced = litellm.Router([{"model_name": "dna", "litellm_params": deployment}], num_retries=0)
    answer = asyncio.run(balanced.atext_completion(model="dna", prompt=PROMPT, max_tokens=2, seed=1))
    equal("a Router", len(answer.choices[0].text), 12)


def main():
    for name in ("litellm", "openai"):
        print(name, importlib.metadata.version(name))
    with Server() as server:
        completions(server.url + "/v1")
        embeddings(server.url + "/v1")
        router(server.url + "/v1")
    keys()
    done("litellm")


main()
