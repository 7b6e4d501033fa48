"""One run of llama.cpp for bench/peers.sh, by its C interface: MODEL.gguf PROMPT.fa NEW BATCHES THREADS."""
import math

import llama_cpp as api

from workload import arguments, decode_tokens, rate, report


class Model:
    def __init__(self, path, threads, sequences, context):
        api.llama_backend_init()
        self.quiet = api.llama_log_callback(lambda level, text, data: None)  # kept alive by the reference
        api.llama_log_set(self.quiet, None)
        self.model = api.llama_model_load_from_file(path.encode(), api.llama_model_default_params())
        assert self.model, "cannot load " + path
        options = api.llama_context_default_params()
        options.n_ctx = options.n_batch = context
        options.n_seq_max = sequences
        options.n_threads = options.n_threads_batch = threads
        options.kv_unified = True
        self.context = api.llama_init_from_model(self.model, options)
        assert self.context, "cannot make a context"
        self.batch = api.llama_batch_init(context, 0, 1)
        self.size = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))

    def clear(self):
        api.llama_memory_clear(api.llama_get_memory(self.context), True)

    def decode(self, rows):
        """rows: (token, position, sequence, whether logits are wanted)."""
        self.batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            self.batch.token[i] = token
            self.batch.pos[i] = position
            self.batch.n_seq_id[i] = 1
            self.batch.seq_id[i][0] = sequence
            self.batch.logits[i] = wanted
        assert api.llama_decode(self.context, self.batch) == 0
        return api.llama_get_logits_ith(self.context, len(rows) - 1)  # waits for the result


def main():
    path, prompt, last, new, batches, threads = arguments()
    model = Model(path, threads, max(batches), max(len(prompt), new * max(batches)))

    def prefill():
        model.clear()
        return model.decode([(t, i, 0, i + 1 == len(prompt)) for i, t in enumerate(prompt)])

    def decode(batch):
        model.clear()
        for position, tokens in enumerate(decode_tokens(batch, new)):
            model.decode([(t, position, s, True) for s, t in enumerate(tokens)])

    speed = rate(len(prompt), prefill)
    logits = prefill()[:model.size]
    largest = max(logits)
    logp = logits[last] - largest - math.log(sum(math.exp(z - largest) for z in logits))
    report(speed, {b: rate(b * new, lambda: decode(b)) for b in batches}, logp)


if __name__ == "__main__":
    main()
