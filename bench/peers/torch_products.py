"""Products of matrices in bf16 by torch, for PRODUCTS=1 bench/peers.sh: THREADS ROWSxINPUTSxOUTPUTS...

Prints JSON as build/bench_products does; the results are bf16, where carbon's are f32.
"""
import json
import sys
import time

import torch

LEAST_SECONDS = 0.5


@torch.no_grad()
def rate(shape):
    rows, inputs, outputs = map(int, shape.split("x"))
    act, weight = torch.rand(rows, inputs) * 2 - 1, torch.rand(outputs, inputs) * 2 - 1
    act, weight = act.bfloat16(), weight.bfloat16()
    torch.nn.functional.linear(act, weight)
    start, done, seconds = time.perf_counter(), 0, 0
    while seconds < LEAST_SECONDS:
        torch.nn.functional.linear(act, weight)
        done += 2e-9 * rows * inputs * outputs
        seconds = time.perf_counter() - start
    return done / seconds


torch.set_num_threads(int(sys.argv[1]))
print(json.dumps({"products": {shape: rate(shape) for shape in sys.argv[2:]}}))
