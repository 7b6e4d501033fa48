"""How long a request of one token waits beside a large one: a score, a scan, variants, a completion with n = 64.

    waiting.py PROGRAM MODEL [--bases BP] [--together N] [--times N] [--threads N]

Starts PROGRAM as a server of MODEL, sends the large request (--together N: N at once), after a second a small one, and after its answer
the next, --times (5) in all, while the large ones run. From the beginning to the end of the large ones it also asks /tokenize, one
request after the other; they need no model, so that they wait for the planning and writing of others alone. A line of JSON for each kind:
seconds of the small request alone and beside (median, most), passes of the model from its sending to its answer (of /metrics; the one
that it comes in and its own count), seconds of /tokenize (median, most), and seconds of the large request alone and beside. Needs nothing but
Python.
"""

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import threading
import time


def post(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise SystemExit("%s: status %d: %r" % (path, answer.status, text[:300]))


def passes(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    return sum(int(float(value)) for value in re.findall(r"^carbon:passes_total(?:\{[^}]*\})? (\S+)$", text, re.M))


def timed(function):
    begin = time.monotonic()
    function()
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--bases", type=int, default=30000)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(1)
    bases = lambda count: "".join(rng.choice("ACGT") for _ in range(count))
    sequences = [bases(6000) for _ in range(max(1, options.bases // 6000))]
    placed = bases(30000)
    variants = [{"pos": 1 + 7 * i, "ref": placed[7 * i], "alt": "A" if placed[7 * i] != "A" else "C"}
                for i in range(min(4096, max(1, options.bases // 400)))]
    large = {
        "score": ("/v1/dna/score", {"sequences": sequences}),
        "scan": ("/v1/dna/scan", {"sequence": bases(options.bases // 3)}),
        "variants": ("/v1/dna/variants", {"sequence": placed, "window": 600, "variants": variants}),
        "completion": ("/v1/completions", {"prompt": "<dna>" + bases(300), "n": 64, "max_tokens": options.bases // 640, "seed": 1}),
    }
    with tempfile.TemporaryDirectory() as folder:
        port_file = os.path.join(folder, "port")
        server = subprocess.Popen([options.program, "serve", "-q", "-m", options.model, "--port", "0", "--port-file", port_file,
                                   *(["-@", str(options.threads)] if options.threads else [])])
        try:
            while not os.path.exists(port_file):
                time.sleep(0.05)
            port = int(open(port_file).read())
            small = lambda: post(port, "/v1/completions", {"prompt": "<dna>" + bases(30), "max_tokens": 1})
            small()
            alone = statistics.median(timed(small) for _ in range(options.times))
            for kind, (path, body) in large.items():
                large_alone = timed(lambda: post(port, path, body))
                times, counts, taken, asked = [], [], [], []
                threads = [threading.Thread(target=lambda: taken.append(timed(lambda: post(port, path, body))))
                           for _ in range(options.together)]
                for thread in threads:
                    thread.start()
                running = lambda: any(thread.is_alive() for thread in threads)

                def ask():
                    while running():
                        asked.append(timed(lambda: post(port, "/tokenize", {"prompt": "<dna>ACGT"})))
                        time.sleep(0.01)

                asking = threading.Thread(target=ask)
                asking.start()
                time.sleep(1)
                while len(times) < options.times and running():
                    before = passes(port)
                    times.append(timed(small))
                    counts.append(passes(port) - before)
                    time.sleep(0.2)
                for thread in [*threads, asking]:
                    thread.join()
                print(json.dumps({"beside": kind, "together": options.together, "small_alone": round(alone, 3),
                                  "small_median": round(statistics.median(times), 3) if times else None,
                                  "small_most": round(max(times), 3) if times else None, "passes_most": max(counts, default=None),
                                  "of": len(times), "tokenize_median": round(statistics.median(asked), 4),
                                  "tokenize_most": round(max(asked), 3), "large_alone": round(large_alone, 2),
                                  "large_beside": round(max(taken), 2)}), flush=True)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
