/* The C interface for plugins: plain C, no symbol of the program is linked against.
 *
 * A plugin is a shared object NAME.so that exports one function,
 *
 *     CARBON_EXPORT const carbon_plugin *carbon_plugin_entry(void);
 *
 * and is run as `carbon +NAME [options of carbon] [inputs] -- [options of the plugin]`. Everything it asks of
 * the program goes through the table `run->api`. carbon-plugins(5) is the manual page, with a whole example.
 *
 * Rules for both sides
 *  - No C++ exception crosses: the program reports one by the plugin's name and ends the run. Nor does
 * longjmp.
 *  - A function that can fail says so in its return value, having remembered why. The plugin then returns
 * CARBON_ERROR itself and the program prints the reason, once. A plugin's own reason goes through `fail`.
 *  - Handles are opaque, belong to the program and live until the run ends, except where it says otherwise.
 * Text is UTF-8 or the bytes of the input, NUL-terminated; what the program hands out stays the program's.
 *  - All functions are to be called from the thread that called the plugin.
 *  - Positions are 0-based, ranges half-open; log-probabilities are natural logarithms (nats).
 *  - Settings are text in the words of the command line: names of options without dashes, "=", their values,
 * and blanks between them, such as "recipe=anchored horizon=96,768". A flag is its name alone. What is left
 * out is the default of the command; "" is all defaults.
 *
 * Versions: CARBON_PLUGIN_ABI changes when a plugin would have to be compiled again, and then the program
 * refuses the old ones. Functions are added at the end of carbon_api; CARBON_HAS asks whether the program
 * that runs has one. New recipes, samplers and sizes are new words of settings and change neither.
 */
#ifndef CARBON_PLUGIN_H
#define CARBON_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CARBON_PLUGIN_ABI 2

#if defined(__GNUC__)
#define CARBON_EXPORT __attribute__((visibility("default")))
#else
#define CARBON_EXPORT
#endif

/* What the program's functions and the plugin's own return. */
enum { CARBON_ERROR = -1, CARBON_DONE = 0 };
/* What `process` returns for a record that is to be written or not, under CARBON_WRITES_RECORDS. With
 * CARBON_LATER the plugin writes it by `record_write`, at once or later. */
enum { CARBON_KEEP = 0, CARBON_DROP = 1, CARBON_LATER = 2 };

typedef struct carbon_api carbon_api;
typedef struct carbon_run {
  const carbon_api* api;
} carbon_run; /* the run's own handle, larger on the program's side; never copy it */
typedef struct carbon_record carbon_record;
typedef struct carbon_records carbon_records;
typedef struct carbon_output carbon_output;
typedef struct carbon_text carbon_text;
typedef struct carbon_sequences carbon_sequences;
typedef struct carbon_indexed_fasta carbon_indexed_fasta;
typedef struct carbon_recipes carbon_recipes;

/* ---- What the plugin gives
 * ------------------------------------------------------------------------------------- */

/* Bits of carbon_plugin.uses; they decide which of the program's options exist. */
enum {
  CARBON_USES_MODEL = 1,     /* -m, --device, ...; the model is loaded when it is first asked for */
  CARBON_READS_RECORDS = 2,  /* the input is one VCF or BCF and `process` is called for every record */
  CARBON_WRITES_RECORDS = 4, /* with CARBON_READS_RECORDS: -o is a VCF or BCF of the records that are kept */
  CARBON_READS_INPUTS = 8,   /* the inputs are names of files, which the plugin opens itself */
  CARBON_WRITES_VCF = 16,    /* the text of the main output is a VCF; -o and -O choose any format for it */
  CARBON_LACKS_INPUTS = 64,  /* with CARBON_READS_INPUTS: there need not be one, and none is standard input */
  CARBON_READS_MORE = 32,    /* with CARBON_READS_RECORDS: more inputs may follow, for `records_open` */
  CARBON_DECLARES_OPTIONS = 128 /* the plugin is the first member of a carbon_declared_plugin */
};

typedef struct carbon_plugin {
  int32_t abi;         /* CARBON_PLUGIN_ABI; stays the first member in every version */
  uint32_t size;       /* sizeof(carbon_plugin) */
  const char* version; /* of the plugin, any text; its name is that of the file, NAME.so */
  const char* about;   /* one line */
  uint32_t uses;
  /* The plugin's options as --help prints them, and examples, ending in a newline; never null. Under
   * CARBON_DECLARES_OPTIONS the program prints the options, and this is what follows them. */
  const char* (*usage)(void);
  /* Called first, with the words after `--`; argv[0] is the name. --help is the program's and never arrives
   * here. Under CARBON_DECLARES_OPTIONS they are those that are given, checked, as --NAME=VALUE, and --NAME
   * of a flag. What it puts into *state comes back in the calls below. */
  int (*init)(carbon_run* run, int argc, char** argv, void** state);
  /* For every record in order, under CARBON_READS_RECORDS, else null. The handle is good during the call.
   * Returns CARBON_KEEP, CARBON_DROP or CARBON_ERROR. */
  int (*process)(carbon_run* run, void* state, carbon_record* record);
  /* After the last record, or after init where there are none. Outputs appear under their names when it
   * returns CARBON_DONE. */
  int (*finish)(carbon_run* run, void* state);
  /* Always called at the end if init put something into *state; may be null. */
  void (*destroy)(void* state);
} carbon_plugin;

/* What the program takes as a value of an option. */
enum {
  CARBON_VALUE_TEXT = 0,
  CARBON_VALUE_WORD = 1,  /* one of the words in `value`, which has them with | between them */
  CARBON_VALUE_WHOLE = 2, /* a whole number, not below 0 */
  CARBON_VALUE_REAL = 3
};

/* An option of the plugin, which the program lists and reads as its own, and whose wrong values it refuses.
 */
typedef struct carbon_option {
  const char*
      name; /* as --name without dashes: small letters, digits and -, at least two; null ends a table */
  const char* value;        /* as --help shows it, such as "FILE"; null for a flag */
  const char* help;         /* what it does, and in which unit */
  const char *least, *most; /* bounds of a number, included, as decimal text; null for none */
  int kind;                 /* of the value */
  char letter;              /* 'f' if it is -f, too; else 0 */
  char repeats;             /* 1 if it may be given several times, else 0 */
} carbon_option;

typedef struct carbon_declared_plugin {
  carbon_plugin plugin;
  const carbon_option* options;
} carbon_declared_plugin;

typedef const carbon_plugin* carbon_plugin_entry_function(void);

/* ---- What the program gives
 * ------------------------------------------------------------------------------------ */

/* Levels of `message`, as in carbon -v. */
enum { CARBON_WARNING = 3, CARBON_INFO = 4 };

/* What `property` knows. All but the first two load the model. */
enum {
  CARBON_VERSION_TEXT = 0, /* "0.1.0" */
  CARBON_COMMAND_LINE = 1, /* as it was typed, without line breaks */
  CARBON_MODEL_ID = 2,     /* its name */
  CARBON_MODEL_SHA256 = 3,
  CARBON_MODEL_DTYPE = 4,
  CARBON_DEVICE_KIND = 5,
  CARBON_MODEL_POSITIONS = 6, /* tokens the model can hold, as decimal text */
  CARBON_BASES_PER_TOKEN = 7  /* 6 for tokens that are 6-mers, 1 for tokens that are letters */
};

/* How the values of an INFO tag are counted. */
enum { CARBON_PER_OTHER = 0, CARBON_PER_ALT = 1, CARBON_PER_ALLELE = 2, CARBON_PER_GENOTYPE = 3 };
enum {
  CARBON_TYPE_NONE = 0,
  CARBON_TYPE_FLAG = 1,
  CARBON_TYPE_INTEGER = 2,
  CARBON_TYPE_FLOAT = 3,
  CARBON_TYPE_STRING = 4
};

/* Values of one INFO tag of one record, good until the next call of `record_info`. Strings are separated by
 * commas, but a comma before `_` or a blank is part of one, as in ClinVar's Pathogenic,_low_penetrance. */
typedef struct carbon_values {
  int type;                 /* CARBON_TYPE_NONE: the record lacks the tag */
  int per;                  /* by the header's Number */
  size_t count;             /* 0 for a flag, and for a tag without a value */
  const double* numbers;    /* of integers and floats; NaN is a missing value */
  const char* const* texts; /* of strings; null is a missing value */
} carbon_values;

/* Genotypes of all samples in one record, good until the next call of `record_genotypes`. Those of a sample
 * follow those of another: that of sample s and its allele i has the index s * ploidy + i. A record without
 * genotypes has ploidy 0. */
typedef struct carbon_genotypes {
  size_t samples;
  const char* const* names; /* of the samples, in the order of the header */
  size_t ploidy;            /* of the samples with the most alleles in this record */
  const int32_t* alleles;   /* 0 for REF, 1 for the first ALT, ...; -1: missing; -2: the sample has fewer */
  const uint8_t* phased;    /* 1 if the allele is phased, else 0; of the first allele, where no sign of
                               its own is read before it, whether all others are phased */
  const char* const* phase_sets; /* PS of each sample as text, null for none; null if no sample has one */
} carbon_genotypes;

/* A sequence to score. Any case; U is T; letters other than A, C, G, T get no value and are unknown context.
 */
typedef struct carbon_score_item {
  const char* bases;
  size_t length;
  double* values; /* null, or room for a value a base (level=bp) or a whole token (level=token); NaN: none */
  double sum;     /* result: of the values that there are, as `carbon score` prints it */
  size_t scored;  /* result: how many */
} carbon_score_item;

/* A variant to score, as a VCF record would name it. */
typedef struct carbon_variant {
  const char* contig;
  int64_t pos;
  const char* ref;
  const char* const* alts;
  size_t alt_count;
  double* values; /* room for alt_count a tag of the recipes: value t * alt_count + a is that of ALT a for tag
                     t, a log-likelihood ratio as `carbon vep` computes it, NaN: not scored */
  const char** flags; /* null, or room for alt_count; null where scored, else the text of CARBON_FLAG */
} carbon_variant;

/* A prompt to continue; it holds a base A, C, G or T. */
typedef struct carbon_generate_item {
  const char* prompt;
  size_t length;
  uint64_t record; /* the number that the draws depend on, as that of the record in `carbon generate` */
  char* bases;     /* room for the new bases and a NUL */
  double logp;     /* result, of the new bases */
} carbon_generate_item;

/* A part of a FASTA sequence. */
typedef struct carbon_region {
  const char* contig;
  int64_t begin, end;
} carbon_region;

/* A region of a file, with what the file says of it. */
typedef struct carbon_named_region {
  carbon_region place; /* without an end, INT64_MAX is its end; begin is -1 for position 0 */
  const char* name;    /* "" without */
  char strand;         /* '+', '-' or '.' */
} carbon_named_region;

struct carbon_api {
  size_t size; /* of this table in the program that runs */

  /* Messages. `fail` remembers a reason, "what, where, what to do", and returns CARBON_ERROR. */
  int (*fail)(carbon_run* run, const char* reason);
  void (*message)(carbon_run* run, int level, const char* text);
  /* One of the properties above; null on failure. */
  const char* (*property)(carbon_run* run, int which);

  /* How far the work is: `done` units, at a place to show, on the bar that --progress asks for. For plugins
   * that use the model or the inputs; records are counted by the program. What was written to a pipe so far
   * is passed on. */
  void (*progress)(carbon_run* run, uint64_t done, const char* unit, const char* where);

  /* Input files named before `--`, that of `process` first; null past the last. */
  const char* (*input)(carbon_run* run, size_t index);

  /* Outputs. A null path is what the user gave with -o, standard output by default, which a plugin with
   * CARBON_WRITES_RECORDS cannot open. Files named .gz are BGZF. A file appears when the run has succeeded.
   * Null for a file that is an input or another output of the run, as links tell. */
  carbon_output* (*output_open)(carbon_run* run, const char* path);
  int (*output_write)(carbon_run* run, carbon_output* output, const char* bytes, size_t count);
  /* A float as it stands in a VCF; returns the length of the text, which fits 32 bytes. */
  size_t (*format_float)(float value, char* text);

  /* Records. Alleles count from 0, the reference; allele and info return null and CARBON_ERROR on failure. */
  const char* (*record_contig)(carbon_run* run, const carbon_record* record);
  int64_t (*record_pos)(carbon_run* run, const carbon_record* record); /* -1 for POS 0 */
  const char* (*record_id)(carbon_run* run, const carbon_record* record);
  size_t (*record_allele_count)(carbon_run* run, const carbon_record* record);
  const char* (*record_allele)(carbon_run* run, const carbon_record* record, size_t index);
  int (*record_info)(carbon_run* run, const carbon_record* record, const char* tag, carbon_values* values);
  /* The type that the header gives to an INFO tag; CARBON_TYPE_NONE if it has none. */
  int (*info_type)(carbon_run* run, const char* tag);
  /* Under CARBON_WRITES_RECORDS: declares a Number=A, Type=Float tag (in init), and sets it, a value an ALT.
   * A tag of Type=Integer is declared by its line of the header (record_write), and set so, too. */
  int (*info_declare)(carbon_run* run, const char* tag, const char* description);
  int (*info_set)(carbon_run* run, carbon_record* record, const char* tag, const double* values,
                  size_t count);

  /* Lines of a text file, plain or compressed. text_line: 1, 0 at the end, CARBON_ERROR; the line has no
   * newline and is good until the next call. text_where: "file:line", for messages. */
  carbon_text* (*text_open)(carbon_run* run, const char* path);
  int (*text_line)(carbon_run* run, carbon_text* text, const char** line, size_t* length);
  const char* (*text_where)(carbon_run* run, carbon_text* text);

  /* FASTA read from beginning to end, "-" for standard input. sequences_next: 1, 0 at the end, CARBON_ERROR.
   */
  carbon_sequences* (*sequences_open)(carbon_run* run, const char* path);
  int (*sequences_next)(carbon_run* run, carbon_sequences* sequences, const char** name, const char** bases,
                        size_t* length);

  /* Indexed FASTA; a missing index is built. fasta_contig: null past the last. fasta_length: -1 if there is
   * no such contig. fasta_fetch writes end - begin letters, as in the file. fasta_regions reads a region as
   * samtools faidx does, or the regions of a file (BED if named .bed); *regions is good until the next call.
   */
  carbon_indexed_fasta* (*fasta_open)(carbon_run* run, const char* path);
  const char* (*fasta_contig)(carbon_run* run, carbon_indexed_fasta* fasta, size_t index);
  int64_t (*fasta_length)(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig);
  int (*fasta_fetch)(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig, int64_t begin,
                     int64_t end, char* bases);
  int (*fasta_regions)(carbon_run* run, carbon_indexed_fasta* fasta, const char* text, int is_file,
                       const carbon_region** regions, size_t* count);

  /* The engine. Many items a call is faster than one; results do not depend on how they are divided.
   *
   * Scores of sequences; `settings`: the options of `carbon score` that say how (level, strand, window,
   * stride). */
  int (*score)(carbon_run* run, const char* settings, carbon_score_item* items, size_t count);
  /* As `score`, of the bases from item i's from[i] on, a multiple of a token's bases: each is given all bases
   * before it, without the windows that `score` divides long sequences into. values has room for those bases.
   */
  int (*score_ends)(carbon_run* run, const char* settings, carbon_score_item* items, const size_t* from,
                    size_t count);

  /* How variants are scored; `settings` of `carbon vep`: recipe (one or several), strand, phases, window,
   * context, horizon. Null on failure. */
  carbon_recipes* (*recipes_open)(carbon_run* run, const char* settings);
  /* The INFO tags of their scores, as `carbon vep` names them; null past the last. `description` may be null.
   */
  const char* (*recipes_tag)(carbon_run* run, const carbon_recipes* recipes, size_t index,
                             const char** description);
  /* What the scores of such a tag depend on besides the model, as KEY=VALUE with commas between them, for a
   * header line; null past the last. */
  const char* (*recipes_text)(carbon_run* run, const carbon_recipes* recipes, size_t index);
  /* Variants near each other share windows only if one call has them, in the order of their positions, so a
   * call should have thousands. */
  int (*score_variants)(carbon_run* run, const carbon_recipes* recipes, carbon_indexed_fasta* fasta,
                        carbon_variant* variants, size_t count);

  /* New bases after prompts, one sample of each, as `carbon generate` draws them; `settings`: its options of
   * sampling (such as temperature), constraint and bounds (such as gc and avoid). */
  int (*generate)(carbon_run* run, const char* settings, size_t new_bases, carbon_generate_item* items,
                  size_t count);

  /* Under CARBON_READS_RECORDS: of the header's lines ##key=..., the one with this index, whole and without a
   * newline; *line is null past the last. It is good until the next call. */
  int (*header_line)(carbon_run* run, const char* key, size_t index, const char** line);

  /* A VCF or BCF besides that of `process`, "-" for standard input; the options that select records hold for
   * it, too. records_next: 1, 0 at the end, CARBON_ERROR; the record is good until the next call for the same
   * file. records_info_type is info_type of its header. */
  carbon_records* (*records_open)(carbon_run* run, const char* path);
  int (*records_next)(carbon_run* run, carbon_records* records, const carbon_record** record);
  int (*records_info_type)(carbon_run* run, carbon_records* records, const char* tag);

  /* The FILTER column as it stands in the file; null on failure. It is good until the next call. */
  const char* (*record_filter)(carbon_run* run, const carbon_record* record);

  /* Something for which the exit status is to be 1 although nothing has failed, such as a bound that the
   * result does not keep. The run goes on and outputs appear; at its end the program prints each text as an
   * error. */
  int (*unmet)(carbon_run* run, const char* text);

  /* The genotypes of a record (GT and PS). With a null record, only samples and names, of the input of
   * `process`. Fails if an allele has a number that the record does not have, or if the header says of GT
   * that it is not a String. */
  int (*record_genotypes)(carbon_run* run, const carbon_record* record, carbon_genotypes* genotypes);
  /* Under CARBON_WRITES_RECORDS: writes a record to the main output, before the one at hand if that is kept.
   * Either `record`, which `process` was given and for which it returns or has returned CARBON_LATER: its
   * handle is good until then, and every such record has to be written. Or `line`, a new line of VCF without
   * newline, with all columns of the header. In init a line of the header, ##...;
   * ##INFO=<ID=,Number=,Type=,Description=> replaces what the input has of that tag, definition and values.
   * The other one is null. */
  int (*record_write)(carbon_run* run, carbon_record* record, const char* line);

  /* The regions of a file, as -R of `carbon vep` reads it, or of a gene model, GFF3 or GTF, of which
   * `features` are the types of features to read, and `names` the attributes that may have the name; both
   * with commas between them, and null for all and none. A region may have no bases. *regions is good until
   * the next call. */
  int (*regions_read)(carbon_run* run, const char* path, const char* features, const char* names,
                      const carbon_named_region** regions, size_t* count);

  /* The lines ##carbon_pluginVersion=... and ##carbon_pluginCommand=... that the program puts into the header
   * of records, without a newline, for other files that the plugin writes; none under --no-version. Null past
   * the last. It is good until the next call. */
  const char* (*version_line)(carbon_run* run, size_t index);
};

/* Whether the program that runs has a function of the table, for those added after the first version. */
#define CARBON_HAS(api, function) \
  ((api)->size >= offsetof(carbon_api, function) + sizeof((api)->function) && (api)->function != NULL)

#ifdef __cplusplus
}
#endif

#endif
