"""The requests of Carbon's own harness (huggingface/carbon, evaluation/scripts/run_serving_benchmarks.py) and of the client that
it starts, as plain HTTP: poll /v1/models, then 16 streams at once of 1,000 bp in and 167 tokens out. CARBON and MODEL from the
environment."""

import http.client
import json
import socket
import threading
import time

from checks import MODEL, Server, check, done, equal, random_bases

PROMPTS, BASES, TOKENS = 16, 1000, 167


def ask(port, i, answers):
    start = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = {"model": MODEL, "prompt": "<dna>" + random_bases(BASES, i), "repetition_penalty": 1.0, "max_tokens": TOKENS,
            "logprobs": None, "stream": True, "stream_options": {"include_usage": True}, "ignore_eos": True, "temperature": 0.0}
    connection.request("POST", "/v1/completions", json.dumps(body),
                       {"Content-Type": "application/json", "x-request-id": f"bench-{i}", "Authorization": "Bearer none"})
    answer = connection.getresponse()
    messages, first = [], None
    text = b""
    while piece := answer.read1(65536):
        first = first or time.monotonic() - start
        text += piece
        while b"\n\n" in text:
            message, text = text.split(b"\n\n", 1)
            messages.append(message.decode())
    answers[i] = (answer.status, answer.getheader("x-request-id"), answer.getheader("content-type"), messages, text, first,
                  time.monotonic() - start)


def poll(port):
    """As the harness waits for a server: until /v1/models answers with 200."""
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/v1/models")
            answer = connection.getresponse()
            if answer.status == 200:
                return json.load(answer)
        except (ConnectionError, socket.timeout):
            pass
        time.sleep(0.5)


def main():
    with Server() as server:
        equal("poll /v1/models", [model["id"] for model in poll(server.port)["data"]], [MODEL])
        answers = [None] * PROMPTS
        start = time.monotonic()
        threads = [threading.Thread(target=ask, args=(server.port, i, answers)) for i in range(PROMPTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - start
        equal("16 answers with 200", [answer[0] for answer in answers], [200] * PROMPTS)
        equal("x-request-id comes back", [answer[1] for answer in answers], [f"bench-{i}" for i in range(PROMPTS)])
        check("content type of an event stream", all(answer[2].startswith("text/event-stream") for answer in answers), answers[0][2])
        equal("every message begins with \"data: \"",
              {message[:6] for answer in answers for message in answer[3]}, {"data: "})
        equal("the last message is [DONE], and nothing is behind it", {(a[3][-1], a[4]) for a in answers}, {("data: [DONE]", b"")})
        events = [[json.loads(message[6:]) for message in answer[3][:-1]] for answer in answers]
        equal("the event before it has choices [] and usage",
              {(len(e[-1]["choices"]), e[-1]["usage"]["completion_tokens"], e[-1]["usage"]["prompt_tokens"]) for e in events},
              {(0, TOKENS, 1 + BASES // 6)})
        equal("167 chunks of each stream", {len(e) - 1 for e in events}, {TOKENS})
        equal("every chunk has one choice with index 0 and logprobs null",
              {(len(x["choices"]), x["choices"][0]["index"], x["choices"][0]["logprobs"]) for e in events for x in e[:-1]}, {(1, 0, None)})
        equal("object, model", {(x["object"], x["model"]) for e in events for x in e}, {("text_completion", MODEL)})
        equal("finish_reason of the last chunk alone is length",
              {tuple(x["choices"][0]["finish_reason"] for x in e[-3:-1]) for e in events}, {(None, "length")})
        texts = ["".join(x["choices"][0]["text"] for x in e[:-1]) for e in events]
        equal("new bases of each: 2 and 166 times 6", {len(text) for text in texts}, {(6 - BASES % 6) + 6 * (TOKENS - 1)})
        check("bases alone", all(set(text) <= set("ACGT") for text in texts))
        ordered = sorted(answer[5] for answer in answers)
        print(f"      {seconds:.2f} s, {PROMPTS * TOKENS / seconds:.0f} tokens/s; first bytes after "
              f"{ordered[0] * 1000:.0f} to {ordered[-1] * 1000:.0f} ms")
    done("harness")


main()
