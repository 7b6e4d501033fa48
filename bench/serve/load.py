"""Streams from an OpenAI-compatible server, many at a time: tokens/s, time to the first token, time between tokens.

    load.py PORT [--clients N,N...] [--bases BP] [--tokens N] [--requests N] [--long BP] [--ids ID] [--model NAME]

For each number of clients it sends as many requests as --requests says (default: 2 for each client), each with a prompt of
--bases random bases of its own (1,000), and asks for --tokens tokens (167, which is 1,000 bp) at temperature 0. With --ids,
the id of <dna>, prompts are token ids, as a server without the tokenizer wants them. With --long, another client sends a
prompt of so many bases after one second, and the streams beside it are
measured. One line of JSON for each number of clients; times in seconds. Needs nothing but Python.
"""

import argparse
import asyncio
import json
import random
import time


async def stream(port, body, times):
    """Sends one request, and appends the time of each event that has text."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    data = json.dumps(body).encode()
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    await writer.drain()
    status = await reader.readline()
    if b" 200 " not in status:
        raise SystemExit("status %r: %r" % (status, await reader.read()))
    finished = False
    async for line in reader:
        if line.startswith(b"data: [DONE]"):
            finished = True
            break
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[6:])
        # The last event of a stream has text in some servers and none in others.
        if event.get("choices") and (event["choices"][0].get("text") or not event["choices"][0].get("finish_reason")):
            times.append(time.monotonic())
    writer.close()
    if not finished:
        raise SystemExit("a stream broke off")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def prompt(arguments, rng, bases):
    if arguments.ids is not None:
        return [arguments.ids] + [arguments.ids + 3 + rng.randrange(4096) for _ in range((bases + 5) // 6)]
    return "<dna>" + "".join(rng.choice("ACGT") for _ in range(bases))


async def measure(arguments, clients):
    rng = random.Random(clients)
    count = arguments.requests or 2 * clients
    prompts = [prompt(arguments, rng, arguments.bases) for _ in range(count)]
    firsts, between, tokens = [], [], 0

    def body(text, n):
        return {"model": arguments.model, "prompt": text, "max_tokens": n, "temperature": 0,
                "stream": True, "ignore_eos": True}

    async def client():
        nonlocal tokens
        while prompts:
            times, begin = [], time.monotonic()
            await stream(arguments.port, body(prompts.pop(), arguments.tokens), times)
            firsts.append(times[0] - begin)
            between.extend(b - a for a, b in zip(times, times[1:]))
            tokens += len(times)

    async def intruder():
        await asyncio.sleep(1)
        await stream(arguments.port, body(prompt(arguments, rng, arguments.long), 1), [])

    begin = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)), *([intruder()] if arguments.long else []))
    seconds = time.monotonic() - begin
    print(json.dumps({
        "clients": clients, "requests": count, "long": arguments.long, "seconds": round(seconds, 3),
        "tokens_per_s": round(tokens / seconds, 2),
        "first_mean": round(sum(firsts) / len(firsts), 4), "first_p99": round(percentile(firsts, .99), 4),
        "between_mean": round(sum(between) / len(between), 5), "between_p50": round(percentile(between, .5), 5),
        "between_p99": round(percentile(between, .99), 5)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--clients", default="1,4,16,64")
    parser.add_argument("--bases", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=167)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--ids", type=int)
    parser.add_argument("--model", default=None)
    arguments = parser.parse_args()
    for clients in map(int, arguments.clients.split(",")):
        asyncio.run(measure(arguments, clients))


if __name__ == "__main__":
    main()
