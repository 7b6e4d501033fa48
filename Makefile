# carbon: build, test, install. `make` works without ./configure; ./configure writes config.mk, which overrides the
# defaults below. GNU make 4.2 or newer.
#
#   make            ./carbon, the plugins, and ./carbon-cuda.so where CUDA 12 or newer is found
#   make check      every test that needs no GPU; last line "N passed, N failed"
#   make quick      the unit tests and a run of each command and plugin: a minute, for those who change something
#   make check-isa  the same with the code for older CPUs, ISAS="avx2 generic" for some; takes long
#   make bench      speed on random weights of the 500M shape (SHAPE=3B, 8B) beside what the machine can do
#   make check-gpu  the CUDA backend on this machine's GPU; fails where there is none
#   make check-gpu-sanitizer  the same in small sizes under compute-sanitizer
#   make bench-gpu  its speed beside what the GPU can do and, with PYTHON=one that has them, torch and transformers
#   make bench-host what the host takes for itself beside a GPU; needs none
#   make demo       call variants on samtools' example reads and annotate them
#   make install    honours prefix DESTDIR bindir libexecdir includedir datadir mandir, and bashcompdir and zshcompdir for
#                   the shells' completion; make uninstall removes what it has installed
#   make lint       formatting of the sources, directions of their includes, shell scripts, syntax of the man pages
#   make fuzz       fuzzes everything that reads files or requests, SECONDS=60 for each target (test/fuzz/fuzz.mk)
#   make check-sanitized  the unit tests of what reads files and requests, with sanitizers
#   make check-all  all of the above that needs no GPU, for longer, and the threads under ThreadSanitizer; takes hours
#   make dist       carbon-VERSION.tar.gz of the last commit, or DIST=FILE
#
# BUILD=DIR keeps objects elsewhere; SANITIZE=address,undefined builds with sanitizers, by default in build-sanitize,
# and leaves ./carbon alone. Debug information: CXXFLAGS='-O2 -g'.

VERSION      := $(shell cat VERSION)
prefix        = /usr/local
exec_prefix   = $(prefix)
bindir        = $(exec_prefix)/bin
libexecdir    = $(exec_prefix)/libexec
includedir    = $(prefix)/include
datarootdir   = $(prefix)/share
datadir       = $(datarootdir)
mandir        = $(datarootdir)/man
bashcompdir   = $(datadir)/bash-completion/completions
zshcompdir    = $(datadir)/zsh/site-functions

CXX           = g++
CXXFLAGS      = -O2 -Wall -Wextra
CPPFLAGS      =
LDFLAGS       =
LIBS          =
HTSLIB_CPPFLAGS =
HTSLIB_LDFLAGS  =
WITH_ONEDNN   = auto
# carbon serve, which needs Boost's headers.
WITH_SERVER   = auto
# auto, no, or the folder of a CUDA toolkit; code for the kinds of GPU named, and PTX of the last of them.
WITH_CUDA     = auto
CUDA_ARCH     = 80 90
# Where carbon-cuda.so looks for cuBLASLt first; empty leaves that to the system, as a package does.
CUDA_RPATH    = $(WITH_CUDA)/lib64
NVCCFLAGS     = -O3
OBJCOPY       = objcopy
INSTALL       = install
SANITIZE      =
BUILD         = $(if $(SANITIZE),build-sanitize,build)

all:

-include config.mk

machine := $(shell $(CXX) -dumpmachine)
x86     := $(filter x86_64% i%86%,$(machine))
aarch64 := $(filter aarch64%,$(machine))

# Looks for the header and links, which is much faster than compiling the header. Only x86-64 has products that are
# computed by oneDNN (AMX).
ifeq ($(WITH_ONEDNN)$(if $(x86),,-not-x86),auto-not-x86)
override WITH_ONEDNN := no
endif
ifeq ($(WITH_ONEDNN),auto)
override WITH_ONEDNN := $(shell printf '\043if !__has_include(<dnnl.hpp>)\n\043error\n\043endif\n\
    extern "C" const void* dnnl_version();\nint main() { return !dnnl_version(); }\n' | \
    $(CXX) $(CPPFLAGS) $(LDFLAGS) -x c++ - -o /dev/null -ldnnl 2>/dev/null && echo yes || echo no)
endif
ifeq ($(WITH_ONEDNN),yes)
ONEDNN_CPPFLAGS = -DCARBON_ONEDNN=1
ONEDNN_LIBS     = -ldnnl
endif
# Boost 1.70 is the first whose sockets are as here.
ifeq ($(WITH_SERVER),auto)
override WITH_SERVER := $(shell printf '\043if !__has_include(<boost/beast.hpp>)\n\043error\n\043endif\n\
    \043include <boost/version.hpp>\n\043if BOOST_VERSION < 107000\n\043error\n\043endif\n' | \
    $(CXX) $(CPPFLAGS) -E -x c++ - -o /dev/null 2>/dev/null && echo yes || echo no)
endif
ifeq ($(WITH_SERVER),yes)
SERVER_CPPFLAGS = -DCARBON_SERVER=1
endif
# CUDA 12 is the first whose compiler takes C++20.
ifeq ($(WITH_CUDA),auto)
override WITH_CUDA := $(shell nvcc=$$(command -v nvcc || echo /usr/local/cuda/bin/nvcc); home=$${nvcc%/bin/nvcc}; \
    major=$$("$$nvcc" --version 2>&1 | sed -n 's/.*release \([0-9]*\).*/\1/p'); \
    if [ "$${major:-0}" -ge 12 ] && [ -f "$$home/include/cublasLt.h" ]; then echo "$$home"; else echo no; fi)
endif
ifneq ($(SANITIZE),)
override WITH_CUDA := no
SAN_FLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

# -ffp-contract=off: a fused multiply-add is written where one is meant, so that every path rounds alike.
all_cppflags = -I. -I$(BUILD) $(ONEDNN_CPPFLAGS) $(SERVER_CPPFLAGS) $(HTSLIB_CPPFLAGS) $(CPPFLAGS)
all_cxxflags = -std=c++20 -fopenmp -ffp-contract=off $(CXXFLAGS) $(SAN_FLAGS)
all_libs     = $(HTSLIB_LDFLAGS) -lhts $(ONEDNN_LIBS) -lBigWig -lutf8proc -lcrypto -lsqlite3 -lz -ldl $(LIBS)
cuda_cppflags = -I. -I$(BUILD) -I$(WITH_CUDA)/include $(CPPFLAGS) -DCARBON_CUDA_ARCH='"$(CUDA_ARCH)"'

left_out     := $(if $(x86),,kernels/cpu/isa_avx%.cpp) \
                $(if $(aarch64),,kernels/cpu/isa_neon%.cpp test/unit/kernels_neon_%.cpp) \
                $(if $(SERVER_CPPFLAGS),,src/serve/%.cpp test/unit/serve_%.cpp test/unit/http_%.cpp) \
                $(if $(FUZZ),src/cli/%.cpp src/bench/%.cpp)
# Sorted, because the order in which a folder lists its files would otherwise be the order in the program.
lib_sources  := $(sort $(filter-out src/cli/main.cpp $(left_out),$(wildcard src/*.cpp src/*/*.cpp src/*/*/*.cpp tokenizer/*.cpp kernels/cpu/*.cpp)) \
                kernels/cuda/loader.cpp)
unit_sources := $(sort $(filter-out $(left_out),$(wildcard test/unit/*.cpp test/reference/*.cpp)))
lib_objects  := $(lib_sources:%.cpp=$(BUILD)/%.o)
unit_objects := $(unit_sources:%.cpp=$(BUILD)/%.o)
tool_objects := $(BUILD)/src/cli/main.o $(BUILD)/test/tools/make_checkpoint.o
plugin_names := $(patsubst plugins/%.cpp,%,$(wildcard plugins/*.cpp))
plugins      := $(plugin_names:%=$(BUILD)/plugins/%.so)
cuda_sources := $(sort $(filter-out kernels/cuda/loader.cpp,$(wildcard kernels/cuda/*.cpp)) $(wildcard kernels/cuda/*.cu))
cuda_objects := $(cuda_sources:%=$(BUILD)/cuda/%.o)
CUDA_LIBRARY := $(if $(filter no,$(WITH_CUDA)),,carbon-cuda.so)
# The same sources for a CPU, with the device made up by test/cuda_emulation, and the checks of the backend on it.
emulated_objects := $(patsubst %,$(BUILD)/emulated/%.o,$(filter-out %/matmul_cublaslt.cpp,$(cuda_sources)) \
                      $(wildcard test/cuda_emulation/*.cpp))
emulated_checks := $(patsubst %,$(BUILD)/emulated/%.o,$(wildcard test/gpu/*.cpp) test/cuda_emulation/planted.cu)
emulated_bench  := $(patsubst %,$(BUILD)/emulated/%.o,$(filter-out %_cublaslt.cpp,$(wildcard bench/gpu/*.cpp)))
check_objects   := $(patsubst %,$(BUILD)/cuda/%.o,$(wildcard test/gpu/*.cpp))
bench_objects   := $(patsubst %,$(BUILD)/cuda/%.o,$(filter-out %_emulated.cpp,$(wildcard bench/gpu/*.cpp)))

# A program with sanitizers stays in its build folder, and so do its plugins.
all: $(if $(SANITIZE),$(BUILD)/carbon $(plugins),carbon $(CUDA_LIBRARY) $(plugin_names:%=plugins/%.so))

carbon carbon-cuda.so: %: $(BUILD)/%
	cp -f $< $@.tmp && mv -f $@.tmp $@
plugins/%.so: $(BUILD)/plugins/%.so
	cp -f $< $@.tmp && mv -f $@.tmp $@

# A command whose target depends on a stamp runs again when its text changes (the last rule of this file writes stamps).
# The variable that the stamp is named for therefore holds the whole command, except what names the one file.
depfiles = -MMD -MP
compile  = $(CXX) $(all_cppflags) $(all_cxxflags) $(depfiles) -c
$(BUILD)/%.o: %.cpp $(BUILD)/compile.stamp | $(BUILD)/version.h $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile) $(file_flags) -o $@ $<

# Each instruction set's kernels are one file, compiled for it alone; they include no standard inline functions, so
# nothing compiled for a newer CPU can leak into the rest of the program.
isa_optimisation           = -O3
isa_generic.file_flags     = $(isa_optimisation)
isa_avx2.file_flags        = $(isa_optimisation) -mavx2 -mfma -mf16c
isa_avx512.file_flags      = $(isa_optimisation) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c
isa_avx512_vnni.file_flags = $(isa_optimisation) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma -mf16c
isa_avx512_bf16.file_flags = $(isa_optimisation) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx512bf16 -mfma -mf16c
# GCC's first scheduling pass moves all loads of a tile to its beginning and then has too few registers for its sums.
isa_neon.file_flags        = $(isa_optimisation) -fno-schedule-insns
isa_neon_dotprod.file_flags = $(isa_optimisation) -fno-schedule-insns -march=armv8.2-a+dotprod
isa_neon_bf16.file_flags   = $(isa_optimisation) -fno-schedule-insns -march=armv8.2-a+dotprod+bf16
$(BUILD)/kernels/cpu/isa_%.o: file_flags = $($(notdir $*).file_flags)
$(filter $(BUILD)/kernels/cpu/isa_%,$(lib_objects)): $(BUILD)/kernels/cpu/%.o: $(BUILD)/%.file_flags.stamp
# This code runs for milliseconds and takes long to compile. Of two -O the compiler takes the later.
fast_files  := $(addprefix $(BUILD)/,src/cli/%.o test/unit/%.o test/tools/%.o)
fast_flags   = $(if $(filter -O2,$(lastword $(filter -O%,$(CXXFLAGS)))),-O1)
$(fast_files): file_flags = $(fast_flags)
$(filter $(fast_files),$(lib_objects) $(unit_objects) $(tool_objects)): $(BUILD)/fast_flags.stamp
# Where data and plugins are installed: `make install prefix=DIR` after `make` compiles one file.
install_dirs = -DCARBON_BINDIR='"$(bindir)"' -DCARBON_DATADIR='"$(datadir)"' -DCARBON_LIBEXECDIR='"$(libexecdir)"'
$(BUILD)/src/base/installed.o: file_flags = $(install_dirs)
$(BUILD)/src/base/installed.o: $(BUILD)/install_dirs.stamp

# A plugin is one file and sees of the program only carbon_plugin.h and the headers of src/statistics.
compile_plugin = $(CXX) $(all_cppflags) $(all_cxxflags) -fPIC -shared -fvisibility=hidden $(depfiles) $(LDFLAGS)
$(BUILD)/plugins/%.so: plugins/%.cpp $(BUILD)/compile_plugin.stamp | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(compile_plugin) -MF $(@:.so=.d) -o $@ $<

$(BUILD)/version.h: VERSION
	@mkdir -p $(@D)
	printf '#define CARBON_VERSION "%s"\n' '$(VERSION)' > $@

# The page of carbon serve: a line of a table for each file, with its text. The figures are those of carbon report.
figure_files = $(sort $(wildcard src/report/figures/*.js))
figure_style = $(wildcard src/report/figures/*.css)
page_files   = $(sort $(wildcard src/serve/page/*)) $(figure_files) $(figure_style)
$(BUILD)/serve_page.h: $(wildcard src/serve/page/* src/report/figures/*) $(BUILD)/page_files.stamp
	@mkdir -p $(@D)
	for file in $(page_files); do printf '{"/%s", R"page(' "$${file##*/}" && cat "$$file" && printf ')page"sv},\n' || exit; \
	    done > $@
$(BUILD)/src/serve/page.o: $(BUILD)/serve_page.h
# What a report contains. The figures are modules of JavaScript, of which one file is made: figures.js.
report_page_files = $(sort $(wildcard src/report/page/*)) $(figure_style)
$(BUILD)/report_page.h: $(wildcard src/report/page/* src/report/figures/*) $(BUILD)/report_page_files.stamp \
                        $(BUILD)/figure_files.stamp
	@mkdir -p $(@D)
	{ for file in $(report_page_files); do printf '{"%s", R"page(' "$${file##*/}" && cat "$$file" && printf ')page"sv},\n' || \
	    exit; done; printf '{"figures.js", R"page(' && sed -e '/^import /d' -e 's/^export //' $(figure_files) && \
	    printf ')page"sv},\n'; } > $@
$(BUILD)/src/report/html.o: $(BUILD)/report_page.h

# What program and carbon-cuda.so must agree on: the headers of their interface, the arithmetic of draws, the compiler.
$(BUILD)/backend_stamp.h: kernels/ops.hpp kernels/tensor.hpp kernels/draw_math.hpp kernels/cuda/library.hpp \
                          $(addprefix src/base/,error.hpp exact_math.hpp random.hpp) VERSION $(BUILD)/CXX.stamp
	@mkdir -p $(@D)
	printf '#define CARBON_BACKEND_STAMP "%s-%s-%s"\n' '$(VERSION)' \
	    "$$(cat $(filter-out %.stamp,$^) | cksum | cut -d' ' -f1)" "$$({ $(CXX) -dumpfullversion || $(CXX) -dumpversion; } 2> /dev/null)" > $@

# When a source is gone, no object is newer than the archive that still holds its object, but the stamp is.
archive = $(AR) rcs $(BUILD)/libcarbon.a $(lib_objects)
$(BUILD)/libcarbon.a: $(lib_objects) $(BUILD)/archive.stamp
	rm -f $@ && $(archive)

# NAME.link links NAME. The rule below the CUDA backend takes the objects and archives of the command for its
# prerequisites, with its stamp.
link                 = $(CXX) $(all_cxxflags) $(LDFLAGS)
carbon.link          = $(link) $(BUILD)/src/cli/main.o $(BUILD)/libcarbon.a $(all_libs)
unit.link            = $(link) $(unit_objects) $(BUILD)/libcarbon.a $(all_libs)
# Checkpoints for tests: every weight is a hash of (tensor name, index).
make_checkpoint.link = $(link_portable) $(BUILD)/test/tools/make_checkpoint.o

# The CUDA backend. -fmad=false for the reason of -ffp-contract=off above; --expt-relaxed-constexpr for what device code
# shares with the host (kernels/draw_math.hpp). Only what the program looks up is visible.
newest_arch = $(lastword $(CUDA_ARCH))
nvcc_arch   = $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$a,code=sm_$a) \
              -gencode arch=compute_$(newest_arch),code=compute_$(newest_arch)
# Packagers' CPPFLAGS may ask for warnings, which nvcc knows only as options of the host's compiler.
nvcc_cppflags = $(patsubst -W%,-Xcompiler=-W%,$(cuda_cppflags))
compile_nvcc = $(WITH_CUDA)/bin/nvcc -std=c++20 $(NVCCFLAGS) -fmad=false --expt-relaxed-constexpr $(nvcc_arch) \
               $(nvcc_cppflags) -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra $(depfiles) -c
# nvcc leaves the name of a temporary file, with the number of its process, among the symbols.
$(BUILD)/cuda/%.cu.o: %.cu $(BUILD)/compile_nvcc.stamp
	@mkdir -p $(@D)
	$(compile_nvcc) -MF $@.d -o $@ $<
	$(OBJCOPY) --wildcard --strip-symbol='tmpxft_*' $@
compile_cuda = $(CXX) $(cuda_cppflags) $(all_cxxflags) -fPIC -fvisibility=hidden $(depfiles) -c
$(BUILD)/cuda/%.cpp.o: %.cpp $(BUILD)/compile_cuda.stamp | $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile_cuda) -MF $@.d -o $@ $<

cuda_rpath = -Wl,-rpath,$(CUDA_RPATH)
cuda_libs = -L$(WITH_CUDA)/lib64 $(if $(CUDA_RPATH),$(cuda_rpath)) -lcublasLt -lcudart_static -ldl -lrt -lpthread
carbon-cuda.so.link = $(link) -shared -Wl,--no-undefined $(cuda_objects) $(cuda_libs)

# Its checks and its bench: neither htslib nor oneDNN, so that they run where there is only a driver and cuBLASLt. OpenMP and
# utf8proc come along, as few machines have them; the C++ library does not, as the static one may want a newer C library than the
# machine's.
link_portable  = $(CXX) $(all_cxxflags) -Wl,--as-needed $(LDFLAGS)
portable_libs  = -lcrypto -Wl,--push-state,-Bstatic -lutf8proc -lgomp -Wl,--pop-state
bench_libs     = $(BUILD)/portable/cpu_onednn.o $(BUILD)/libcarbon.a
check_libs     = $(BUILD)/test/reference/llama.o $(bench_libs)
check_gpu.link = $(link_portable) $(check_objects) $(cuda_objects) $(check_libs) $(cuda_libs) $(portable_libs)
bench_gpu.link = $(link_portable) $(bench_objects) $(cuda_objects) $(bench_libs) $(cuda_libs) $(portable_libs)
compile_portable = $(CXX) $(filter-out $(ONEDNN_CPPFLAGS),$(all_cppflags)) $(all_cxxflags) $(depfiles) -c
$(BUILD)/portable/cpu_onednn.o: kernels/cpu/cpu_onednn.cpp $(BUILD)/compile_portable.stamp
	@mkdir -p $(@D)
	$(compile_portable) -o $@ $<

emulated_cppflags = -Itest/cuda_emulation/include -I. -I$(BUILD) $(CPPFLAGS) -DCARBON_CUDA_EMULATION=1 \
                    -DCARBON_CUDA_ARCH='"75 80 90"' $(if $(SANITIZE),,-DCARBON_EMULATION_WATCHES=1)
compile_emulated = $(CXX) $(emulated_cppflags) $(all_cxxflags) -U_FORTIFY_SOURCE -Wno-unknown-pragmas -fPIC \
                   -fvisibility=hidden $(depfiles) -c -x c++
# A call for every access of a kernel to memory (test/cuda_emulation/hooks.cpp), unless a sanitizer is to have them.
watch_flags      = $(if $(SANITIZE),,-fsanitize=thread,alignment -fno-sanitize-recover=all)
compile_watched  = $(compile_emulated) $(watch_flags)
$(BUILD)/emulated/%.cu.o: %.cu $(BUILD)/compile_watched.stamp | $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile_watched) -MF $@.d -o $@ $<
$(BUILD)/emulated/%.cpp.o: %.cpp $(BUILD)/compile_emulated.stamp | $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile_emulated) -MF $@.d -o $@ $<
check_emulated.link          = $(link) $(emulated_checks) $(emulated_objects) $(check_libs) -lutf8proc -lcrypto
emulated/bench_gpu.link      = $(link) $(emulated_bench) $(emulated_objects) $(bench_libs) -lutf8proc -lcrypto
emulated/carbon-cuda.so.link = $(link) -shared $(emulated_objects)

linked := carbon unit make_checkpoint carbon-cuda.so check_gpu bench_gpu check_emulated \
          $(addprefix emulated/,bench_gpu carbon-cuda.so)
$(foreach p,$(linked),$(eval $(BUILD)/$p: $(filter $(BUILD)/%.o $(BUILD)/%.a,$($p.link)) $(BUILD)/$p.link.stamp))
$(linked:%=$(BUILD)/%): $(BUILD)/%:
	$($*.link) -o $@

# A folder of its own, with a program beside a library that says it has GPUs, for the tests of commands.
$(BUILD)/emulated/carbon: $(BUILD)/carbon | $(BUILD)/emulated/carbon-cuda.so
	cp -f $< $@.tmp && mv -f $@.tmp $@

-include $(addsuffix .d,$(cuda_objects) $(check_objects) $(bench_objects) \
    $(emulated_objects) $(emulated_checks) $(emulated_bench))
-include $(plugins:.so=.d) $(patsubst %.o,%.d,$(lib_objects) $(unit_objects) $(tool_objects) $(BUILD)/portable/cpu_onednn.o)

check test check-isa: $(BUILD)/carbon $(plugins) $(BUILD)/unit $(BUILD)/make_checkpoint $(BUILD)/check_emulated \
    $(addprefix $(BUILD)/emulated/,carbon carbon-cuda.so bench_gpu) $(CUDA_LIBRARY:%=$(BUILD)/%)
	BUILD=$(BUILD) $(if $(filter check-isa,$@),test/run_isa.sh,test/run.sh)

quick: $(BUILD)/carbon $(plugins) $(BUILD)/unit $(BUILD)/make_checkpoint
	BUILD=$(BUILD) test/run.sh quick

SHAPE = 500M
commit = "$$(git describe --always --dirty 2>/dev/null || cat VERSION)"
# What the host takes for itself beside a GPU like an H100, with 132 multiprocessors; needs none.
bench-host: $(BUILD)/emulated/bench_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint $< --host 132 --model $(SHAPE) \
	    --commit $(commit)

ifeq ($(WITH_CUDA),no)
check-gpu check-gpu-sanitizer bench-gpu:
	@echo "make $@: built without CUDA; needs CUDA 12 or newer (nvcc, cuBLASLt) and no SANITIZE" >&2; exit 1
else
check-gpu: $(BUILD)/check_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint $(BUILD)/check_gpu
check-gpu-sanitizer: $(BUILD)/check_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint test/gpu/sanitize.sh $(BUILD)/check_gpu
bench-gpu: $(BUILD)/bench_gpu $(BUILD)/make_checkpoint
	BUILD=$(BUILD) bench/gpu/run.sh --commit $(commit)
endif

bench: carbon
	./carbon bench --synthetic $(SHAPE)

demo: carbon
	test/demo.sh

install: carbon $(plugins) $(CUDA_LIBRARY)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 \
	    $(DESTDIR)$(libexecdir)/carbon $(DESTDIR)$(includedir) $(DESTDIR)$(datadir)/carbon/models/carbon-tiny \
	    $(DESTDIR)$(bashcompdir) $(DESTDIR)$(zshcompdir)
	$(INSTALL) -m 755 carbon $(DESTDIR)$(bindir)/carbon
	$(INSTALL) -m 755 $(plugins) $(CUDA_LIBRARY) $(DESTDIR)$(libexecdir)/carbon
	$(INSTALL) -m 644 plugins/carbon_plugin.h $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 man/*.5 $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 models/carbon-tiny/* $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
	cp -R workflows $(DESTDIR)$(datadir)/carbon/
	./carbon completion bash > $(DESTDIR)$(bashcompdir)/carbon
	./carbon completion zsh > $(DESTDIR)$(zshcompdir)/_carbon

uninstall:
	rm -f $(DESTDIR)$(bindir)/carbon $(patsubst man/%,$(DESTDIR)$(mandir)/man1/%,$(wildcard man/*.1)) \
	    $(patsubst man/%,$(DESTDIR)$(mandir)/man5/%,$(wildcard man/*.5)) $(DESTDIR)$(includedir)/carbon_plugin.h \
	    $(plugin_names:%=$(DESTDIR)$(libexecdir)/carbon/%.so) $(DESTDIR)$(libexecdir)/carbon/carbon-cuda.so \
	    $(DESTDIR)$(bashcompdir)/carbon $(DESTDIR)$(zshcompdir)/_carbon
	rm -rf $(DESTDIR)$(datadir)/carbon/models/carbon-tiny $(DESTDIR)$(datadir)/carbon/workflows
	rmdir $(DESTDIR)$(libexecdir)/carbon $(DESTDIR)$(datadir)/carbon/models $(DESTDIR)$(datadir)/carbon 2> /dev/null || :

# The same commit gives the same bytes: the times in the archive are that of the commit, and the modes do not depend on
# the user's settings. An unpacked archive that lies in somebody else's repository is not that repository.
DIST = carbon-$(VERSION).tar.gz
dist:
	@test -e .git || { echo "make dist: no git repository here; the archive is made from the files of a commit" >&2; exit 1; }
	@git diff --quiet HEAD -- || echo "make dist: uncommitted changes are not in $(DIST)" >&2
	git -c tar.umask=0022 archive --prefix=carbon-$(VERSION)/ -o $(DIST) HEAD

# Where there is no git, an unpacked archive holds sources and what was built, and nothing else.
source_types = cpp hpp h inl cu cuh
find_sources = find . -path './build*' -prune -o -type f '(' -false $(source_types:%=-o -name '*.%') ')' -print
# Git also refuses to look at a repository of another user.
has_git = test -e .git && git ls-files > /dev/null 2>&1
lint:
	{ if $(has_git); then git ls-files -co --exclude-standard $(source_types:%='*.%'); else $(find_sources); fi; } | \
	    xargs clang-format --dry-run --Werror
	$(or $(PYTHON),python3) test/check_includes.py
	@# nvcc names an unnamed namespace after the folder it runs in, so that no two builds would have the same bytes.
	! grep -n '^namespace {' kernels/cuda/*.cu
	{ if $(has_git); then git ls-files -co --exclude-standard '*.sh' .ci/run; else find . -path './build*' -prune -o -name '*.sh' -print; fi; } | \
	    xargs shellcheck -S warning
	mandoc -Tlint -W warning man/*.[15]

include test/fuzz/fuzz.mk

clean:
	rm -rf $(BUILD) carbon carbon-cuda.so plugins/*.so
distclean: clean
	rm -rf build build-sanitize config.mk config.log config.status configure configure~ autom4te.cache
	rm -f carbon-$(VERSION).tar.gz

.PHONY: all check test quick check-isa check-gpu check-gpu-sanitizer bench bench-gpu demo install uninstall dist lint clean distclean FORCE
.DELETE_ON_ERROR:

# NAME.stamp holds the text of the variable NAME and is written when that differs, so that what depends on it is made anew;
# neither a change of this file nor `make -n` writes it. They are named here one by one because make takes files that only
# pattern rules mention for intermediate ones. A target's own name ($*) is known only to a second expansion, which is for
# all rules that follow: this one is the last.
stamps = CXX compile compile_plugin compile_portable compile_nvcc compile_cuda compile_emulated compile_watched \
         fast_flags install_dirs archive page_files report_page_files figure_files $(linked:%=%.link) \
         $(patsubst kernels/cpu/%.cpp,%.file_flags,$(wildcard kernels/cpu/isa_*.cpp))
same   = $(and $(findstring <$1>,<$2>),$(findstring <$2>,<$1>))
.SECONDEXPANSION:
$(stamps:%=$(BUILD)/%.stamp): $(BUILD)/%.stamp: $$(if $$(call same,$$($$*),$$(file <$$@)),,FORCE)
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$($*))' > $@
