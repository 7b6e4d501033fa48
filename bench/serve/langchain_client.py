"""LangChain against carbon serve: langchain-openai's completions and embeddings. CARBON and MODEL from the environment."""

import asyncio
import importlib.metadata
import tempfile
import urllib.request

import openai
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_openai import OpenAI, OpenAIEmbeddings

from checks import MODEL, Server, check, done, equal

PROMPT = "<dna>ATGGCCAAGGACATGGCC"


def completions(url):
    plain = openai.OpenAI(base_url=url, api_key="none")
    wanted = lambda prompt, **fields: plain.completions.create(model=MODEL, prompt=prompt, **fields).choices[0].text
    # LangChain sends a temperature of 0.7 unless another is given.
    own = dict(model=MODEL, base_url=url, api_key="none", max_retries=0)
    usual = OpenAI(max_tokens=40, seed=7, **own)
    equal("its own temperature", usual.invoke(PROMPT), wanted(PROMPT, max_tokens=40, seed=7, temperature=0.7))
    llm = OpenAI(max_tokens=5, seed=7, temperature=1, **own)
    text = wanted(PROMPT, max_tokens=5, seed=7)
    equal("invoke", llm.invoke(PROMPT), text)
    equal("ainvoke", asyncio.run(llm.ainvoke(PROMPT)), text)
    equal("stream: the pieces are 6-mers", list(llm.stream(PROMPT)), [text[i:i + 6] for i in range(0, 30, 6)])
    # Prompt i of a request has draws of its own, so that a batch differs from requests alone but for its first.
    prompts = [PROMPT, "<dna>TTTTTTACGTAC", "<dna>GGGCCC"]
    together = plain.completions.create(model=MODEL, prompt=prompts, max_tokens=5, seed=7)
    batch = llm.generate(prompts)
    equal("generate: three prompts", [one[0].text for one in batch.generations], [one.text for one in together.choices])
    equal("generate: usage", (batch.llm_output["token_usage"]["completion_tokens"], batch.llm_output["model_name"]), (15, MODEL))
    equal("generate: finish_reason", batch.generations[0][0].generation_info["finish_reason"], "length")
    equal("batch", len(llm.batch(prompts)), 3)
    two = OpenAI(max_tokens=5, seed=7, n=2, best_of=2, **own)
    equal("n 2", len({one.text for one in two.generate([PROMPT]).generations[0]}), 2)
    cold = OpenAI(max_tokens=5, temperature=0, **own)
    equal("temperature 0", cold.invoke(PROMPT), wanted(PROMPT, max_tokens=5, temperature=0))
    equal("stop", llm.invoke(PROMPT, stop=[text[8:14]]), text[:text.index(text[8:14])])
    ranked = OpenAI(max_tokens=3, logprobs=2, **own).generate([PROMPT])
    equal("logprobs", len(ranked.generations[0][0].generation_info["logprobs"]["token_logprobs"]), 3)
    narrow = OpenAI(max_tokens=5, seed=3, extra_body={"top_k": 1}, **own)
    equal("extra_body", narrow.invoke(PROMPT), cold.invoke(PROMPT))
    chain = (PromptTemplate.from_template("<dna>{bases}") | llm | StrOutputParser() | RunnableLambda(len))
    equal("a chain", chain.invoke({"bases": PROMPT[5:]}), 30)
    try:
        llm.invoke("ACGT")
        check("a prompt without <dna>", False, "no exception")
    except openai.BadRequestError as error:
        equal("a prompt without <dna>", error.code, "dna_tag_missing")


def embeddings(url):
    texts = [PROMPT, "<dna>TTTTTTACGTAC"]
    plain = openai.OpenAI(base_url=url, api_key="none")
    wanted = [one.embedding for one in plain.embeddings.create(model=MODEL, input=texts).data]
    own = dict(model=MODEL, base_url=url, api_key="none", max_retries=0)
    embedder = OpenAIEmbeddings(check_embedding_ctx_length=False, **own)
    equal("embed_documents", embedder.embed_documents(texts), wanted)
    equal("embed_query", embedder.embed_query(PROMPT), wanted[0])
    equal("aembed_documents", asyncio.run(embedder.aembed_documents(texts)), wanted)
    small = OpenAIEmbeddings(check_embedding_ctx_length=False, dimensions=5, **own)
    equal("dimensions", small.embed_query(PROMPT), wanted[0][:5])


def keys():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("sesame\n")
        file.flush()
        with Server("--api-key", file.name) as server:
            right, wrong = (OpenAI(model=MODEL, base_url=server.url + "/v1", api_key=key, max_tokens=2, max_retries=0)
                            for key in ("sesame", "wrong"))
            equal("a key", len(right.invoke(PROMPT)), 12)
            try:
                wrong.invoke(PROMPT)
                check("a wrong key", False, "no exception")
            except openai.AuthenticationError as error:
                equal("a wrong key", error.code, "invalid_api_key")
            equal("/health needs none", urllib.request.urlopen(server.url + "/health").status, 200)


def main():
    for name in ("langchain-core", "langchain-openai", "openai"):
        print(name, importlib.metadata.version(name))
    with Server() as server:
        completions(server.url + "/v1")
        embeddings(server.url + "/v1")
    keys()
    done("langchain")


main()
