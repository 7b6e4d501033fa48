"""carbon serve under load: an answer depends on its request alone, nothing is left behind, and the end is orderly."""

import http.client
import json
import random
import re
import signal
import socket
import threading
import time

from harness import case, carbon, expect, expect_equal, main, model, own_errors
from serve_support import Server, need_server


def bases(rng, n):
    return "".join(rng.choice("ACGT") for _ in range(n))


def requests(count, seed):
    """Mixed requests, all with seeds. Many prompts begin alike, some are equal."""
    rng = random.Random(seed)
    begins = [bases(rng, 600) for _ in range(4)]
    asked = []
    for _ in range(count):
        sequence = rng.choice(begins)[:rng.choice((90, 400, 600))] + bases(rng, rng.choice((0, 5, 50, 300)))
        tokens, number = rng.choice((1, 5, 40)), rng.randrange(100)
        asked.append(rng.choice((
            ("/v1/completions", {"prompt": "<dna>" + sequence, "max_tokens": tokens, "seed": number, "n": rng.choice((1, 1, 3))}),
            ("/v1/completions", {"prompt": "<dna>" + sequence, "max_tokens": tokens, "seed": number, "stream": True, "logprobs": 2}),
            ("/v1/completions", {"prompt": "<dna>" + sequence, "max_tokens": 40, "seed": number, "stop": ["ACG", "TTTT"], "stream": rng.choice((True, False))}),
            ("/v1/completions", {"prompt": "<dna>" + sequence, "max_tokens": 2, "seed": number, "echo": True, "logprobs": 1, "temperature": 0}),
            ("/v1/embeddings", {"input": "<dna>" + sequence}),
            ("/v1/dna/score", {"sequences": [sequence, sequence[:100]], "strand": rng.choice("+-")}),
            ("/v1/dna/generate", {"prompt": sequence, "length": 6 * tokens - 1, "seed": number, "probabilities": True}),
            ("/v1/dna/scan", {"sequence": sequence[:200]}),
            ("/v1/dna/variants", {"sequence": sequence, "variants": [{"pos": 40, "ref": sequence[39], "alt": "ACGT".replace(sequence[39], "")[0]}]}),
        )))
    return asked


def content(answer):
    """The body without the time of the request and its id."""
    expect(answer.status == 200, "status %d: %s" % (answer.status, answer.body[:300]))
    return re.sub(rb'"created":\d+', b"", re.sub(rb'"id":"[^"]*"', b"", answer.body))




def together(server, asked, clients):
    """Sends the requests from several threads in the given order; the answers in that order."""
    answers, places = [None] * len(asked), iter(range(len(asked)))
    lock, problems = threading.Lock(), []

    def client():
        while not problems:
            with lock:
                i = next(places, None)
            if i is None:
                return
            try:
                answers[i] = content(server.post(*asked[i]))
            except Exception as problem:
                problems.append(problem)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return answers


def vanish(server, asked, rng, stop):
    """A client that sends requests and goes away, after a while or at once."""
    while not stop.is_set():
        path, body = rng.choice(asked)
        if "max_tokens" in body:
            body = {**body, "max_tokens": 300, "stop": None}
        data = json.dumps(body).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(data)))
            connection.sendall(data[:rng.choice((len(data), len(data), len(data) // 2))])
            time.sleep(rng.choice((0, 0.003, 0.02)))


def quiet(server):
    """Waits until nothing runs."""
    until = time.monotonic() + 30
    while server.metric("carbon:requests_under_way") or server.metric("vllm:num_requests_running"):
        expect(time.monotonic() < until, "something still runs")
        time.sleep(0.05)


@case
def the_same_bytes_alone_and_in_a_crowd():
    asked = requests(250, 1)
    with Server() as server:
        alone = [content(server.post(*one)) for one in asked]
    for options in ((), ("--batch-tokens", 256), ("--batch-tokens", 64, "-@", 1)):
        with Server(*options) as server:
            order = list(range(len(asked)))
            random.Random(len(options)).shuffle(order)
            stop = threading.Event()
            ghosts = [threading.Thread(target=vanish, args=(server, asked, random.Random(i), stop)) for i in range(3)]
            for ghost in ghosts:
                ghost.start()
            try:
                crowd = together(server, [asked[i] for i in order], 32)
            finally:
                stop.set()
                for ghost in ghosts:
                    ghost.join()
            for i, body in zip(order, crowd):
                expect_equal(body, alone[i], "%s with %s" % (asked[i], options))
            quiet(server)
            expect(server.metric("carbon:kv_pages_in_use") <= server.metric("carbon:kv_pages_kept"), "pages are left")
            expect(server.metric("vllm:prefix_cache_hits_total") > 0, "no prompt began like another")
            hurt = [line for line in server.messages().splitlines() if re.match(r"\[[EW]::", line) and "carbon-tiny" not in line]
            expect_equal(hurt, [], "messages")


@case
def a_draft_changes_no_byte():
    asked = [one for one in requests(120, 2) if one[0] in ("/v1/completions", "/v1/dna/generate")]
    with Server() as server:
        alone = [content(server.post(*one)) for one in asked]
    with Server("--draft", model(layers=1)) as server:
        expect_equal(together(server, asked, 16), alone, "with a draft")
        expect(server.metric("vllm:spec_decode_num_draft_tokens_total") > 0, "the draft was not asked")


@case
def health_and_metrics_never_wait():
    with Server() as server:
        body = {"prompt": "<dna>" + "ACGTTA" * 300, "max_tokens": 600, "stream": True}
        data = json.dumps(body).encode()
        streams = []
        for _ in range(32):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
            streams.append(connection)
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        times = []
        for path in ("/health", "/metrics") * 30:
            begin = time.monotonic()
            expect_equal(server.get(path).status, 200, path)
            times.append(time.monotonic() - begin)
        # Far below the time of what runs; bench/serve measures it.
        expect(sorted(times)[len(times) // 2] < 2, "median %g s" % sorted(times)[len(times) // 2])
        for connection in streams + idle:
            connection.close()
        quiet(server)


@case
def hostile_requests_hurt_nobody():
    rng = random.Random(4)
    asked = requests(40, 5)
    with Server("--max-body", 65536) as server:
        good = ("/v1/completions", {"prompt": "<dna>" + bases(rng, 200), "max_tokens": 5, "seed": 1})
        want = content(server.post(*good))
        connection = None
        for i in range(1500):
            path, body = rng.choice(asked)
            data = bytearray(json.dumps(body).encode())
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                kind = rng.randrange(4)
                if kind == 0:
                    data[at] = rng.randrange(256)
                elif kind == 1:
                    del data[at:at + rng.randrange(1, 20)]
                elif kind == 2:
                    data[at:at] = rng.choice((b"null", b"[", b"{", b"\"", b"1e999", b"-1", b"true", b"\x00", b"\\u0000", b"99999999999999999999"))
                else:
                    data = data[:at] + data[at // 2:]
                if not data:
                    data = bytearray(b"x")
            connection = connection or http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            try:
                connection.request("POST", path, bytes(data))
                answer = connection.getresponse()
                text = answer.read()
            except (http.client.HTTPException, ConnectionError):
                connection = None
                continue
            if answer.status != 200:
                expect(400 <= answer.status < 500, "%d for %r: %r" % (answer.status, bytes(data), text))
                expect(set(json.loads(text)["error"]) == {"message", "type", "param", "code"}, text)
            if answer.headers.get("Connection") == "close":
                connection = None
        expect_equal(server.post("/v1/completions", b"x" * 70000).status, 413, "a body over the limit")
        expect_equal(content(server.post(*good)), want, "a good request after all that")
        quiet(server)


@case
def too_many_at_once_are_told_to_come_back():
    with Server("--max-queue", 2) as server:
        results = []

        def client():
            answer = server.post("/v1/completions", {"prompt": "<dna>ACGTAC", "max_tokens": 400})
            results.append((answer.status, answer.headers.get("Retry-After")))

        threads = [threading.Thread(target=client) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(set(results) == {(200, None), (429, "1")}, str(results))


@case
def a_request_may_take_too_long():
    with Server("--max-seconds", 0.2) as server:
        answer = server.post("/v1/completions", {"prompt": "<dna>" + "ACGTTG" * 2000, "max_tokens": 1900, "n": 8})
        expect_equal((answer.status, answer.json["error"]["code"]), (504, "timeout"), "time limit")
        quiet(server)


def streams(server, count, tokens):
    """Opens streams; a list that their texts go to, and their threads."""
    ends, threads = [], []

    def client(seed):
        try:
            answer = server.post("/v1/completions", {"prompt": "<dna>ACGTACGGT", "max_tokens": tokens, "stream": True, "seed": seed})
            ends.append(answer.body)
        except Exception as problem:
            ends.append(problem)

    for seed in range(count):
        threads.append(threading.Thread(target=client, args=(seed,)))
        threads[-1].start()
    until = time.monotonic() + 30
    while server.metric("vllm:num_requests_running") < count and time.monotonic() < until:
        time.sleep(0.01)
    return ends, threads


@case
def sigterm_lets_streams_end():
    with Server("--drain", 60) as server:
        ends, threads = streams(server, 24, 1200)
        expect_equal(server.stop(), 0, "exit status")
        for thread in threads:
            thread.join()
        expect_equal(len(ends), 24, "answers")
        for end in ends:
            expect(isinstance(end, bytes) and end.endswith(b"data: [DONE]\n\n") and b"error" not in end, repr(end)[-200:])


@case
def who_asks_while_the_server_ends_is_told_so():
    with Server("--drain", 60) as server:
        ends, threads = streams(server, 4, 4000)
        server.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + 30
        while server.get("/health").status == 200:
            expect(time.monotonic() < until, "the server does not say that it ends")
        health = server.get("/health")
        expect_equal((health.status, health.json, health.headers["Connection"]), (503, {"status": "ending"}, "close"), "health")
        answer = server.post("/v1/completions", {"prompt": "<dna>ACGT", "max_tokens": 1})
        expect_equal((answer.status, answer.json["error"]["code"]), (503, "server_ending"), "a new request")
        expect_equal(server.process.wait(60), 0, "exit status")
        for thread in threads:
            thread.join()
        expect(all(isinstance(end, bytes) and end.endswith(b"data: [DONE]\n\n") and b"error" not in end for end in ends), repr(ends)[-200:])


@case
def after_the_drain_streams_are_told():
    with Server("--drain", 0.1) as server:
        ends, threads = streams(server, 8, 4000)
        begin = time.monotonic()
        expect_equal(server.stop(signal.SIGINT), 0, "exit status")
        expect(time.monotonic() - begin < 20, "the end took long")
        for thread in threads:
            thread.join()
        for end in ends:
            expect(isinstance(end, bytes) and b'"code":"server_ending"' in end, repr(end)[-200:])


@case
def a_second_server_on_the_port():
    with Server() as server:
        second = carbon("serve", "-m", model(), "--port", server.port)
        expect_equal((second.rc, len(own_errors(second))), (1, 1), str(second))
        expect(str(server.port) in own_errors(second)[0], str(second))
    nobody = carbon("serve", "--check", "--port", server.port)
    expect_equal((nobody.rc, len(own_errors(nobody))), (1, 1), str(nobody))


need_server()
main()
