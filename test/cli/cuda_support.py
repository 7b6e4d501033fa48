"""The program beside a carbon-cuda.so of test/cuda_emulation, in a folder of its own. Not a test."""

import os

from harness import CARBON, command, expect_equal, expect_failure, undated

FOLDER = os.path.dirname(CARBON)
EMULATED = os.path.join(FOLDER, "emulated")


def emulated(*args, env=None, folder=EMULATED, **options):
    return command([os.path.join(folder, "carbon"), *undated(args)], env=env, timeout=120, **options)


def least_memory(run, enough, fails=1 << 20, does=1 << 26, tolerance=1 << 14):
    """The least bytes of GPU memory with which run({"CARBON_EMULATED_MEMORY": bytes}) does what it did as `enough`, to within
    a tolerance: bytes that do not do, bytes that do, and the result with those. It starts from two such numbers."""
    least = None
    while does - fails > tolerance:
        memory = (fails + does) // 2
        result = run({"CARBON_EMULATED_MEMORY": str(memory)})
        if result.rc == 0:
            expect_equal(result.out, enough.out, "with %d bytes" % memory)
            does, least = memory, result
        else:
            expect_failure(result, "out of memory", "GPU memory")
            fails = memory
    return fails, does, least
