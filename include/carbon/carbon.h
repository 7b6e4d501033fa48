/* The C interface of carbon: models as a library, with the bits of the commands.
 *
 * A model is opened with settings in JSON. A call is one use of it: a verb such as "score", options in JSON,
 * inputs that are added one by one, and results that are taken one by one, in the order of the inputs.
 *
 *     carbon_model *model;
 *     carbon_call *call;
 *     carbon_model_open("{\"model\":\"carbon-tiny\"}", &model);
 *     carbon_call_new(model, "score", "{\"strand\":\"both\"}", &call);
 *     carbon_call_add(call, "ACGTACGTACGT", 12);
 *     carbon_call_end(call);
 *     while (carbon_call_next(call, 60000) == CARBON_OK)
 *       carbon_call_array(call, "sum_logp", &data, &type, &dimensions, &shape, &strides);
 *     carbon_call_free(call);
 *     carbon_model_close(model);
 *
 * docs/score.c is a whole program. No struct holds options, so that a new option changes no ABI.
 *
 * Rules
 *  - A function returns a code. carbon_error_text() has the sentence for the last one of the calling thread
 *    that was neither CARBON_OK, CARBON_E_AGAIN nor CARBON_E_END.
 *  - Any thread may call any function, and several calls on one model are computed together. A call is meant
 *    for one thread at a time, except for carbon_call_cancel().
 *  - A model or a call that was closed, freed or never opened gives CARBON_E_HANDLE, and in a child of
 *    fork() all of the parent's give CARBON_E_FORKED, at once. So fork before the first model is opened, or
 *    start processes without fork.
 *  - The library installs no signal handler, never ends the process, writes nothing to descriptors 1 and 2,
 *    and changes no locale, working folder or environment. It finds its files by its own path.
 *  - Texts are UTF-8. Bases may be of either case; U is read as T.
 *  - A result never depends on threads, on other calls, or on what else was added.
 *
 * Not to be included together with carbon_plugin.h, which is for plugins of the program. */
#ifndef CARBON_CARBON_H
#define CARBON_CARBON_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CARBON_API __attribute__((visibility("default")))
#else
#define CARBON_API
#endif

/* Rises when a function is added. Nothing is ever removed under one SONAME. */
#define CARBON_API_VERSION 3

typedef struct carbon_model carbon_model;
typedef struct carbon_call carbon_call;
typedef struct carbon_fasta carbon_fasta;
typedef struct carbon_vcf carbon_vcf;

enum {
  CARBON_OK = 0,
  CARBON_E_AGAIN = 1,     /* not now: take results first, or wait longer */
  CARBON_E_END = 2,       /* no further results */
  CARBON_E_ARGUMENT = 3,  /* a null pointer, a negative length, a call in the wrong order */
  CARBON_E_HANDLE = 4,    /* the model, the call or the file is not open */
  CARBON_E_SETTING = 5,   /* a setting or option is unknown, or its value cannot be used */
  CARBON_E_INPUT = 6,     /* a sequence, variant or region cannot be used */
  CARBON_E_MODEL = 7,     /* the model cannot be opened, or not be used for this verb */
  CARBON_E_MEMORY = 8,    /* not enough memory; the same may work later */
  CARBON_E_CANCELLED = 9, /* carbon_call_cancel() was called */
  CARBON_E_FORKED = 10,   /* opened in another process, of which this one is a child */
  CARBON_E_FAILED = 11    /* the computation failed, e.g. a result that is not finite */
};

/* Types of the elements of an array. */
enum { CARBON_F64 = 1, CARBON_F32 = 2, CARBON_I64 = 3, CARBON_U8 = 4 };

/* CARBON_API_VERSION of the library. */
CARBON_API int carbon_api_version(void);
/* The version of carbon, e.g. "1.2.0". */
CARBON_API const char* carbon_version(void);

/* What was wrong, in a sentence; "" if nothing was. Valid until the next call of this thread. */
CARBON_API const char* carbon_error_text(void);
/* Frees a text that a function has handed out as char **. Null does nothing. */
CARBON_API void carbon_free(void* text);

/* Opens a model. `settings` is a JSON object, or null for none: model (a folder, a GGUF file or a name;
 * default: as the commands choose), device, dtype, threads, batch_tokens, lora, rope_scaling, prefix,
 * species, gene_type, tag_grammar. They mean what the options of the commands with these names mean. */
CARBON_API int carbon_model_open(const char* settings, carbon_model** model);
/* A JSON object: name, path, family, dtype, device, threads, layers, hidden, max_positions,
 * bases_per_token, max_bases, demonstration, labels (of a model with a classification head), verbs, and if
 * `digest` is not 0, sha256 as in the header lines of the commands, for which all weights are read once.
 * To be freed with carbon_free(). */
CARBON_API int carbon_model_describe(carbon_model* model, int digest, char** json);
/* Closes a model and frees its memory. Calls on it end with CARBON_E_HANDLE; they still have to be freed.
 * Waits until half a layer is computed that is under way. */
CARBON_API int carbon_model_close(carbon_model* model);

/* Begins a call. `options` is a JSON object, or null for none. Its members are the fields of the endpoints
 * of `carbon serve` with these names (docs/serving.md), which are the options of the commands:
 *
 *   verb      options                              an input            arrays of a result
 *   score     strand level window stride           bases               n_scored [], sum_logp [],
 *             probabilities                                            mean_logp [], logp [n];
 *                                                                      probabilities [n, 4], entropy [n]
 *   variants  fasta_ref or sequence; recipe level  {"chrom":, "pos":,  values [tags], flag [letters]
 *             measure strand phases window         "ref":, "alt":}      with measure also
 *             context horizon pool pad_tail        or text such as      l2 [], jsd []
 *             labels activation label_scale        chr1:2 A>G; of
 *             unify_chr_names                      <DEL>, <DUP>, <INV>
 *             max_ref_mismatch                     also end, svlen, info
 *   scan      fasta_ref; strand level frames       bases; with         logp [n, 4], begin [],
 *             context                              fasta_ref a region  contig, bases [letters]
 *   embed     pool layer strand pad_tail           bases               embedding [rows, hidden] f32
 *   predict   strand pool pad_tail labels          bases               values [labels]
 *             activation label_scale
 *   annotate  window overlap gff3 genes and the    bases               plus [n], minus [n] f32;
 *             options of genes and runs                                gff3 [letters]
 *   generate  length n sampler temperature top_k   bases of a prompt,  sequence [letters], logp [];
 *             top_p greedy seed constraint gc      or none             probabilities [length, 4]
 *             gc_window avoid no_stop
 *             max_homopolymer prefix
 *             probabilities
 *
 * carbon_call_next() gives CARBON_E_INPUT after the last result if none of the contigs of the variants is in
 * the FASTA, or if so many of the variants have another REF than the FASTA that they must be of another
 * assembly. It gives it after 1,000 variants if these show it.
 *
 * Errors name an input by its number from 0: sequences[0] of score, embed, predict and annotate, rows[0]
 * of variants, regions[0] of scan, prompts[0] of generate.
 *
 * Columns of four are A, C, G, T. [] is an array without dimensions: one number. Numbers are f64, n_scored
 * and begin i64, letters u8. A value that is missing is NaN. `generate` gives n results for each prompt, and
 * its prefix stands in place of the model's; all other verbs give one result for each input. */
CARBON_API int carbon_call_new(carbon_model* model, const char* verb, const char* options,
                               carbon_call** call);
/* Adds an input of `length` bytes. CARBON_E_AGAIN: nothing was added, because enough inputs are under way;
 * take a result first. CARBON_E_INPUT: nothing was added, and the call goes on. */
CARBON_API int carbon_call_add(carbon_call* call, const char* text, int64_t length);
/* Says that no more inputs will be added. */
CARBON_API int carbon_call_end(carbon_call* call);
/* Waits for the next result, at most `timeout_ms` milliseconds; 0 looks only. Arrays of the result before
 * it are no longer valid. CARBON_E_AGAIN: none has come in this time. */
CARBON_API int carbon_call_next(carbon_call* call, int timeout_ms);
/* An array of the result at hand. Strides are in bytes. Every pointer but `data` may be null. */
CARBON_API int carbon_call_array(carbon_call* call, const char* name, const void** data, int* type,
                                 int* dimensions, const int64_t** shape, const int64_t** strides);
/* Ends a call early, from any thread: whoever waits in carbon_call_next() gets CARBON_E_CANCELLED at once.
 * What it holds of the model's memory is free as soon as half a layer is computed that is under way. */
CARBON_API int carbon_call_cancel(carbon_call* call);
/* Frees a call, which is cancelled if it is not complete. */
CARBON_API int carbon_call_free(carbon_call* call);

/* Takes the oldest message of this process's models: {"level":, "where":, "text":}, level error, warning,
 * info or message. CARBON_E_AGAIN: there is none. To be freed with carbon_free(). The oldest of more than
 * 1,000 messages are dropped. */
CARBON_API int carbon_log_next(char** json);

/* How far a call is, since version 2 of the API: of the inputs that were added, how many windows (of
 * generate: samples) are computed, and how many they have. More may be planned with each input, and while
 * results are taken. */
CARBON_API int carbon_call_progress(carbon_call* call, int64_t* done, int64_t* planned);

/* The models that are found, since version 2: a JSON array of what `carbon models --json` prints, of which an
 * object with the member error is not a model. Reads no weights. To be freed with carbon_free(). */
CARBON_API int carbon_models(char** json);

/* The verbs, since version 2: a JSON array of {"name":, "about":, "inputs":, "options":}, where options is a
 * JSON Schema of what carbon_call_new() takes: names, types, words, bounds, defaults and a sentence each. To
 * be freed with carbon_free(). */
CARBON_API int carbon_verbs(char** json);

/* Reads a FASTA file (plain, gzip or BGZF; "-" for standard input) as the commands do, since version 2. A
 * file is meant for one thread at a time. CARBON_E_INPUT: the file cannot be read, or is not FASTA. */
CARBON_API int carbon_fasta_open(const char* path, carbon_fasta** fasta);
/* The next record: its name, and its bases, which are followed by a byte of 0. They are valid until the next
 * call with this file. CARBON_E_END: there are no more. An error ends the file: later calls give it again. */
CARBON_API int carbon_fasta_next(carbon_fasta* fasta, const char** name, const char** bases, int64_t* length);
CARBON_API int carbon_fasta_close(carbon_fasta* fasta);

/* Reads a VCF or BCF file ("-" for standard input) as the commands do, since version 3. A file is meant for
 * one thread at a time. CARBON_E_INPUT: the file cannot be read, is empty, cut or damaged, or is no VCF. */
CARBON_API int carbon_vcf_open(const char* path, carbon_vcf** vcf);
/* The next alternative allele, as an input of the verb variants: {"chrom":, "pos":, "ref":, "alt":} with
 * svlen of <DEL>, <DUP> and <INV> if the record says exactly where they end, and in info the bases that they
 * insert. Valid until the next call with this file. CARBON_E_END: there are no more, and the file is
 * complete. An error ends the file: later calls give it again. */
CARBON_API int carbon_vcf_next(carbon_vcf* vcf, const char** variant);
CARBON_API int carbon_vcf_close(carbon_vcf* vcf);

#ifdef __cplusplus
}
#endif

#endif
