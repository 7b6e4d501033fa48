"""One run of vLLM on the CPU in bfloat16 for bench/peers.sh: MODEL PROMPT.fa NEW BATCHES THREADS."""
import os
import sys

# Before vLLM is imported: the engine in this process, so many threads, and no log between the numbers.
os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_LOGGING_LEVEL="ERROR", VLLM_CPU_KVCACHE_SPACE="2",
                  VLLM_CPU_OMP_THREADS_BIND="0-%d" % (int(sys.argv[5]) - 1), VLLM_NO_USAGE_STATS="1")
import vllm  # noqa: E402

from workload import FIRST, arguments, rate, report  # noqa: E402


def main():
    path, prompt, last, new, batches, _ = arguments()
    # A prompt that was computed once must be computed again, and in one pass as by the others.
    model = vllm.LLM(path, skip_tokenizer_init=True, dtype="bfloat16", max_model_len=len(prompt) + 2, max_num_seqs=max(batches),
                     max_num_batched_tokens=max(len(prompt) + 2, max(batches)), enable_prefix_caching=False,
                     disable_log_stats=True)

    def generate(prompts, tokens, **options):
        sampling = vllm.SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False, **options)
        return model.generate([{"prompt_token_ids": p} for p in prompts], sampling, use_tqdm=False)

    # The pass over <dna> gives a sequence's first token, so that there are as many passes as new tokens.
    decode = {b: rate(b * new, lambda b=b: generate([[FIRST]] * b, new)) for b in batches}
    prefill = rate(len(prompt), lambda: generate([prompt], 1))
    scored = generate([prompt + [last]], 1, prompt_logprobs=0)[0].prompt_logprobs[-1]
    report(prefill, decode, scored[last].logprob)


if __name__ == "__main__":
    main()
