# Fuzzing (test/fuzz/*.cpp, a target each). Everything of it lies in $(FUZZ_BUILD): programs,
# seeds, corpora, findings.
#
#   make fuzz             builds the targets and runs each for SECONDS=60; a line for each; fails if there is a finding
#   make fuzz-build       builds them only
#   make check-sanitized  the unit tests of what parses (PARSER_TESTS), with the same sanitizers
#   make check-all        make lint, check-isa, check-sanitized, the tests of threads under ThreadSanitizer (THREAD_TESTS),
#                         and make fuzz with SECONDS=600 for each target; takes hours
#
# FUZZ_CORE=1, for continuous integration, leaves out the targets for which the engine, the server or the reports have to be
# compiled, which would take most of the time. FUZZ_TARGETS="vcf gguf" takes some of the targets,
# FUZZ_JOBS=2 runs two at a time, FUZZ_RUNS=1000 makes so many executions at most, the same ones every time. To look at a
# finding:
#   build/fuzz/NAME build/fuzz/findings/NAME-crash-...
#
# The rules below FUZZ are those of a second make, with the compiler that has libFuzzer (Debian packages clang,
# libclang-rt-dev and lld: ./install-deps.sh --fuzz).

FUZZ_CXX     = clang++
FUZZ_BUILD   = build/fuzz
FUZZ_JOBS    = 1
SECONDS      = 60
FUZZ_TARGETS = $(filter-out harness,$(patsubst test/fuzz/%.cpp,%,$(wildcard test/fuzz/*.cpp)))
# The test programs whose inputs are files and requests, and that of calls of libcarbon, which looks for leaks.
PARSER_TESTS = bpe genome_fasta genome_names genome_vcf genome_vcf_jump genome_vcf_regions gguf metadata_tags model_checkpoint \
               model_config model_safetensors resume tokenizer $(if $(FUZZ_CORE),,api_many_calls http_limits score_cache)

ifdef FUZZ_CORE
FUZZ_TARGETS = $(filter-out harness api library plugin report,$(patsubst test/fuzz/%.cpp,%,$(wildcard test/fuzz/*.cpp)))
core_sources = $(wildcard src/base/*.cpp src/model/*.cpp src/files/*.cpp src/formats/*.cpp tokenizer/*.cpp) src/sampling/base_scores.cpp \
               $(filter-out $(addprefix src/vep/,header.cpp run.cpp variant_scores.cpp),$(wildcard src/vep/*.cpp src/vep/recipes/*.cpp)) \
               src/engine/request.cpp $(wildcard src/pooling/*.cpp) $(addprefix src/annotate/,decoder.cpp gene.cpp genes.cpp probabilities.cpp) $(addprefix src/transformer/,f16_exponents.cpp head.cpp) \
               $(addprefix src/scan/,pieces.cpp recorder.cpp) src/serve/http_message.cpp $(addprefix src/verbs/,fields.cpp variant_input.cpp) \
               $(addprefix src/report/,sections/bases.cpp $(addprefix drawing/,plot.cpp svg.cpp track.cpp) \
                 $(addprefix sources/,bases.cpp genes.cpp input.cpp))
endif

fuzz_make = +$(MAKE) --no-print-directory FUZZ=1 BUILD=$(FUZZ_BUILD) CXX=$(FUZZ_CXX) CXXFLAGS='-O1 -gline-tables-only' \
            SANITIZE=address,undefined $(if $(FUZZ_CORE),lib_sources='$(core_sources)')

fuzz: fuzz-build
	BUILD=$(FUZZ_BUILD) JOBS=$(FUZZ_JOBS) RUNS=$(FUZZ_RUNS) test/fuzz/run.sh $(SECONDS) $(FUZZ_TARGETS)
fuzz-build:
	$(fuzz_make) fuzz-programs
check-sanitized:
	$(fuzz_make) $(FUZZ_BUILD)/unit_parsers
	@echo "$(FUZZ_BUILD)/unit_parsers"
	@export CARBON_SHARED="$${CARBON_SHARED:-../shared}" log=$(FUZZ_BUILD)/unit_parsers.stderr; \
	    $(FUZZ_BUILD)/unit_parsers --no-colors=true 2> $$log || { tail -n 60 $$log; exit 1; }

THREAD_TESTS = thread_pool ordered_writer ordered_texts scheduler scheduler_cancel api_many_calls serve_completions serve_dna serve_embeddings http_server http_limits stop_signals progress resume
thread_files = $(subst $(space),$(comma),$(THREAD_TESTS:%=*%_test.cpp))
comma        = ,
space        = $() $()
check-threads:
	+$(MAKE) --no-print-directory BUILD=build-thread SANITIZE=thread build-thread/unit build-thread/make_checkpoint
	CARBON_MAKE_CHECKPOINT=build-thread/make_checkpoint build-thread/unit \
	    --source-file='$(thread_files)'
check-all: export ALL = 1
check-all: lint check check-isa check-sanitized check-threads
	+$(MAKE) --no-print-directory fuzz SECONDS=600
.PHONY: fuzz fuzz-build fuzz-programs check-sanitized check-threads check-all

ifdef FUZZ
SAN_FLAGS += -fsanitize=fuzzer-no-link,float-cast-overflow -D_GLIBCXX_ASSERTIONS
# The kernels are not what is tested, and would take longest to compile.
$(BUILD)/kernels/%.o: SAN_FLAGS =
isa_optimisation = -O1

fuzz_link = $(CXX) $(all_cxxflags) -fuse-ld=lld $(LDFLAGS)
fuzz_programs = $(FUZZ_TARGETS:%=$(BUILD)/%)
fuzz-programs: $(fuzz_programs) $(if $(filter plugin,$(FUZZ_TARGETS)),$(plugins))
# The plugins, which the target `plugin` loads, find the functions of libFuzzer in the program.
$(fuzz_programs): $(BUILD)/%: $(BUILD)/test/fuzz/%.o $(BUILD)/test/fuzz/harness.o $(BUILD)/libcarbon.a
	$(fuzz_link) -fsanitize=fuzzer -rdynamic -o $@ $^ $(all_libs)
parser_objects = $(patsubst %,$(BUILD)/test/unit/%_test.o,$(PARSER_TESTS)) $(BUILD)/test/unit/main.o
$(BUILD)/unit_parsers: $(parser_objects) $(BUILD)/libcarbon.a
	$(fuzz_link) -o $@ $^ $(all_libs)
-include $(patsubst test/fuzz/%.cpp,$(BUILD)/test/fuzz/%.d,$(wildcard test/fuzz/*.cpp))
endif
