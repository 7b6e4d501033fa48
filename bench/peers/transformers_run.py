"""One run of transformers in bfloat16 for bench/peers.sh: MODEL PROMPT.fa NEW BATCHES THREADS."""
import torch
import transformers

from workload import arguments, decode_tokens, rate, report


@torch.no_grad()
def main():
    path, prompt, last, new, batches, threads = arguments()
    torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).eval()
    ids = torch.tensor([prompt])

    def prefill():
        return model(input_ids=ids, logits_to_keep=1, use_cache=True).logits[0, -1]

    def decode(batch):
        cache = transformers.DynamicCache(config=model.config)
        for tokens in decode_tokens(batch, new):
            model(input_ids=torch.tensor(tokens)[:, None], past_key_values=cache, use_cache=True)

    speed = rate(len(prompt), prefill)
    logp = torch.log_softmax(prefill().double(), -1)[last].item()
    report(speed, {b: rate(b * new, lambda: decode(b)) for b in batches}, logp)


if __name__ == "__main__":
    main()
