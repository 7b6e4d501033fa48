"""Two builds of carbon serve beside one another: seconds of the same load in alternating rounds.

    pairs.py BEFORE AFTER MODEL [--kinds KIND,...] [--rounds N] [--bases BP] [--threads N]

BEFORE and AFTER are programs. Both serve MODEL all the time, and the one that is not asked does nothing. A round asks both for the
same, in turn the one and the other first, with inputs of its own. Kinds: clients64 (64 streams at once, prompts and answers of BP / 64
bases), score (one sequence of BP bases), scan (a third of that), completion (64 samples of BP / 64 bases). A line of JSON for each
kind: medians of both in seconds, the median of AFTER / BEFORE over the rounds, and a 95 % interval of that median (10,000 resamples of
the rounds). Needs nothing but Python.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

from load import stream
from waiting import post, timed


def start(program, model, threads, folder):
    port_file = os.path.join(folder, "port%d" % len(os.listdir(folder)))
    server = subprocess.Popen([program, "serve", "-q", "-m", model, "--port", "0", "--port-file", port_file,
                               *(["-@", str(threads)] if threads else [])])
    while not os.path.exists(port_file):
        if server.poll() is not None:
            raise SystemExit("the server ended: " + program)
        time.sleep(0.05)
    return server, int(open(port_file).read())


def load_of(kind, bases, rng):
    """What one round asks of a server on a port."""
    letters = lambda count: "".join(rng.choice("ACGT") for _ in range(count))
    if kind == "score":
        body = {"sequences": [letters(bases)]}
        return lambda port: post(port, "/v1/dna/score", body)
    if kind == "scan":
        body = {"sequence": letters(bases // 3)}
        return lambda port: post(port, "/v1/dna/scan", body)
    if kind == "completion":
        body = {"prompt": "<dna>" + letters(300), "n": 64, "max_tokens": max(1, bases // 64 // 6), "seed": 1}
        return lambda port: post(port, "/v1/completions", body)
    bodies = [{"prompt": "<dna>" + letters(bases // 64), "max_tokens": max(1, bases // 64 // 6), "temperature": 0, "stream": True}
              for _ in range(64)]

    async def all_at_once(port):
        await asyncio.gather(*(stream(port, body, []) for body in bodies))

    return lambda port: asyncio.run(all_at_once(port))


def interval(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(10000))
    return [round(medians[250], 4), round(medians[9749], 4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("model")
    parser.add_argument("--kinds", default="clients64,score,scan,completion")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--bases", type=int, default=30000)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        servers = []
        try:
            for program in (options.before, options.after):
                servers.append(start(program, options.model, options.threads, folder))
            ports = [port for _, port in servers]
            for kind in options.kinds.split(","):
                seconds = []
                for number in range(options.rounds + 1):
                    load = load_of(kind, options.bases, rng)
                    order = (0, 1) if number % 2 else (1, 0)
                    took = {which: timed(lambda: load(ports[which])) for which in order}
                    if number > 0:  # the first round is the warm-up
                        seconds.append((took[0], took[1]))
                ratios = [after / before for before, after in seconds]
                print(json.dumps({"kind": kind, "rounds": len(seconds), "before": round(statistics.median(s[0] for s in seconds), 3),
                                  "after": round(statistics.median(s[1] for s in seconds), 3),
                                  "after/before": round(statistics.median(ratios), 4), "interval": interval(ratios, rng)}), flush=True)
        finally:
            for server, _ in servers:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
