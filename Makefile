# carbon: build, test, install. `make` works without ./configure; ./configure writes config.mk, which overrides the
# defaults below. GNU make 4.2 or newer.
#
#   make                      ./carbon, the plugins, and ./carbon-cuda.so where CUDA 12 or newer is found
#   make help                 these lines
#   make library              libcarbon.so.0, the C interface of include/carbon/carbon.h (mk/library.mk)
#   make wheel                build/carbon_dna-VERSION-...whl, the Python package with library and program (docs/python.md)
#   make demo                 calls variants on samtools' example reads, scores them and writes an HTML report
#   make check                the tests that need no GPU; last line "N passed, N failed", before it what was left out, and why
#   make quick                the unit tests and a run of each command and plugin, in about a minute: after each change
#   make check-isa            make check with the code for older CPUs, ISAS="avx2 generic" for some of them; takes long
#   make bench                speed on random weights of the 500M shape (SHAPE=3B, 8B) beside what the machine can do
#   make check-gpu            tests the CUDA backend on this machine's GPU; fails where there is none
#   make check-gpu-sanitizer  the same in small sizes under NVIDIA's compute-sanitizer
#   make bench-gpu            speed of the GPU beside its limits; with PYTHON=FILE, also that of its torch and transformers
#   make gpu-kit              build/gpu-kit.tar.xz, which checks and measures on a machine that has a GPU and no compiler
#   make bench-host           the time that the host takes for itself beside a GPU; needs no GPU
#   make install              honours prefix DESTDIR bindir libexecdir includedir datadir mandir bashcompdir zshcompdir
#   make install-library      the library, carbon.h and carbon.pc; honours also libdir
#   make uninstall            removes what these two with the same settings have installed
#   make docs                 build/docs, the documents and manual pages as HTML, with their links checked
#   make lint                 formatting of the sources, directions of their includes, shell scripts, manual pages
#   make fuzz                 fuzzes everything that reads files or requests, SECONDS=60 for each target (mk/fuzz.mk)
#   make fuzz-build           compiles the fuzz targets
#   make check-sanitized      the unit tests of what reads files and requests, with sanitizers
#   make check-threads        unit tests of the host's threads under ThreadSanitizer
#   make check-all            lint, check with nothing left out, check-isa, check-sanitized, check-threads, and fuzz for longer; takes hours
#   make dist                 carbon-VERSION.tar.gz of the last commit, or DIST=FILE
#   make release              release/, all the files of a release; takes long (packaging/RELEASING.md)
#   make clean                removes what make has built
#   make distclean            removes also what ./configure and make dist have written
#
# BUILD=DIR keeps objects elsewhere; SANITIZE=address,undefined builds with sanitizers, by default in build-sanitize,
# and leaves ./carbon alone. Debug information: CXXFLAGS='-O2 -g'.

VERSION      := $(shell cat VERSION)
prefix        = /usr/local
exec_prefix   = $(prefix)
bindir        = $(exec_prefix)/bin
libexecdir    = $(exec_prefix)/libexec
libdir        = $(exec_prefix)/lib
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
# carbon serve, which needs Boost's headers.
WITH_SERVER   = auto
# auto, no, or the folder of a CUDA toolkit; code for the kinds of GPU named, and PTX of the last of them.
WITH_CUDA     = auto
CUDA_ARCH     = 80 90
# Where cuBLASLt is looked for first; empty leaves that to the system, as a package does.
CUDA_RPATH    = $(WITH_CUDA)/lib64
# yes: the CUDA backend is a part of the program and of libcarbon.so, and there is no carbon-cuda.so.
LINK_CUDA     = no
NVCCFLAGS     = -O3
OBJCOPY       = objcopy
INSTALL       = install
# What starts a program that was compiled for another machine, such as qemu-aarch64.
EMULATOR      =
SANITIZE      =
BUILD         = $(if $(SANITIZE),build-sanitize,build)

all:

-include config.mk
include mk/detect.mk

# -fopenmp-simd: loops that are marked become vectors. It needs no library of OpenMP, and starts no threads.
# -ffp-contract=off: a fused multiply-add is written where one is meant, so that every path rounds alike.
all_cppflags = -I. -I$(BUILD) $(SERVER_CPPFLAGS) $(HTSLIB_CPPFLAGS) $(CPPFLAGS)
all_cxxflags = -std=c++20 -pthread -fopenmp-simd -ffp-contract=off $(CXXFLAGS) $(SAN_FLAGS)
all_libs     = $(HTSLIB_LDFLAGS) $(libraries) -ldl $(LIBS)

# Sorted, because the order in which a folder lists its files would otherwise be the order in the program.
# isa-NAME.cpp stands for isa.cpp as it is compiled for an instruction set (mk/flags.mk).
lib_sources  := $(sort $(filter-out src/cli/main.cpp kernels/cpu/isa.cpp $(left_out),$(wildcard src/*.cpp src/*/*.cpp src/*/*/*.cpp \
                tokenizer/*.cpp kernels/cpu/*.cpp)) $(isas:%=kernels/cpu/isa-%.cpp) kernels/cuda/loader.cpp)
lib_objects  := $(lib_sources:%.cpp=$(BUILD)/%.o)
# What the rule for $(BUILD)/%.o compiles; mk/test.mk adds the tests.
host_objects := $(lib_objects) $(BUILD)/src/cli/main.o
plugin_names := $(patsubst plugins/%.cpp,%,$(wildcard plugins/*.cpp))
plugins      := $(plugin_names:%=$(BUILD)/plugins/%.so)

# A program with sanitizers stays in its build folder, and so do its plugins.
all: $(if $(SANITIZE),$(BUILD)/carbon $(plugins),carbon $(CUDA_LIBRARY) $(plugin_names:%=plugins/%.so))

carbon carbon-cuda.so $(plugin_names:%=plugins/%.so): %: $(BUILD)/%
	cp -f $< $@.tmp && mv -f $@.tmp $@

# A command stands in a variable, because $(BUILD)/NAME.stamp becomes newer when the text of the variable NAME changes. mk/stamps.mk
# says why, and links each program NAME by the command NAME.link.
depfiles = -MMD -MP
# Code that can lie anywhere, with hidden symbols, because libcarbon is made of the same objects (mk/library.mk).
compile  = $(CXX) $(all_cppflags) $(all_cxxflags) -fPIC -fvisibility=hidden $(depfiles) -c
$(BUILD)/%.o: %.cpp $(BUILD)/compile.stamp | $(addprefix $(BUILD)/,version.h backend_stamp.h figure_design.h)
	@mkdir -p $(@D)
	$(compile) $(file_flags) -o $@ $<

# The stamp, because when a source is gone, no object is newer than the archive that still holds its object.
archive = $(AR) rcs $(BUILD)/libcarbon.a $(lib_objects)
$(BUILD)/libcarbon.a: $(lib_objects) $(BUILD)/archive.stamp
	rm -f $@ && $(archive)

link        = $(CXX) $(all_cxxflags) $(LDFLAGS)
carbon.link = $(link) $(BUILD)/src/cli/main.o $(linked_cuda) $(BUILD)/libcarbon.a $(all_libs) $(linked_cuda_libs)

# A plugin is one file and sees of the program only carbon_plugin.h and the headers of src/statistics.
compile_plugin = $(CXX) $(all_cppflags) $(all_cxxflags) -fPIC -shared -fvisibility=hidden $(depfiles) $(LDFLAGS)
$(BUILD)/plugins/%.so: plugins/%.cpp $(BUILD)/compile_plugin.stamp | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(compile_plugin) -MF $(@:.so=.d) -o $@ $<

linked := carbon
stamps := CXX compile compile_plugin archive
# The other parts. stamps.mk is the last, as it reads what the others have added to these lists.
include $(addprefix mk/,generated.mk cuda.mk emulated.mk test.mk install.mk library.mk flags.mk fuzz.mk stamps.mk)
-include $(host_objects:.o=.d) $(plugins:.so=.d)

# Prints the list at the top of this file.
help:
	@sed -n '/^#   make/,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD) carbon carbon-cuda.so plugins/*.so
distclean: clean
	rm -rf build build-sanitize config.mk config.log config.status configure configure~ autom4te.cache
	rm -f carbon-$(VERSION).tar.gz

.PHONY: all help clean distclean FORCE
.DELETE_ON_ERROR:
