# carbon: build, test, install. `make` works without ./configure; ./configure writes config.mk, which overrides the
# defaults below.
#
#   make            ./carbon and the bundled models
#   make check      every test that needs no GPU; last line "N passed, N failed"
#   make demo       call variants on samtools' example reads and annotate them
#   make install    honours prefix DESTDIR bindir libexecdir datadir mandir
#
# BUILD=DIR keeps objects elsewhere; SANITIZE=address,undefined builds with sanitizers.

VERSION      := $(shell cat VERSION)
prefix        = /usr/local
exec_prefix   = $(prefix)
bindir        = $(exec_prefix)/bin
libexecdir    = $(exec_prefix)/libexec
datarootdir   = $(prefix)/share
datadir       = $(datarootdir)
mandir        = $(datarootdir)/man

CXX           = g++
CXXFLAGS      = -O2 -g -Wall -Wextra
CPPFLAGS      =
LDFLAGS       =
HTSLIB_CPPFLAGS =
HTSLIB_LDFLAGS  =
HTSLIB_LIBS     = -lhts
WITH_ONEDNN   = auto
INSTALL       = install
BUILD         = build
SANITIZE      =

-include config.mk

ifeq ($(WITH_ONEDNN),auto)
override WITH_ONEDNN := $(shell printf '\043include <dnnl.hpp>\nint main(){return dnnl_version()==nullptr;}\n' | \
    $(CXX) -x c++ - -o /dev/null -ldnnl 2>/dev/null && echo yes || echo no)
endif
ifeq ($(WITH_ONEDNN),yes)
ONEDNN_CPPFLAGS = -DCARBON_ONEDNN=1
ONEDNN_LIBS     = -ldnnl
endif
ifneq ($(SANITIZE),)
SAN_FLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

# -ffp-contract=off: a fused multiply-add is written where one is meant, so that every path rounds alike.
all_cppflags = -I. -I$(BUILD) -DCARBON_DATADIR='"$(datadir)"' $(ONEDNN_CPPFLAGS) $(HTSLIB_CPPFLAGS) $(CPPFLAGS)
all_cxxflags = -std=c++20 -fopenmp -ffp-contract=off $(CXXFLAGS) $(SAN_FLAGS)
all_libs     = $(HTSLIB_LDFLAGS) $(HTSLIB_LIBS) $(ONEDNN_LIBS) -lutf8proc -lcrypto -lz

x86         := $(filter x86_64% i%86%,$(shell $(CXX) -dumpmachine))
lib_sources := $(filter-out src/main.cpp,$(wildcard src/*.cpp src/*/*.cpp tokenizer/*.cpp)) \
               $(filter-out $(if $(x86),,kernels/cpu/isa_avx%.cpp),$(wildcard kernels/cpu/*.cpp))
unit_sources := $(wildcard test/unit/*.cpp test/reference/*.cpp)
lib_objects  := $(lib_sources:%.cpp=$(BUILD)/%.o)
unit_objects := $(unit_sources:%.cpp=$(BUILD)/%.o)
DEMO_MODEL   := models/carbon-tiny/model.safetensors

all: carbon $(DEMO_MODEL)

carbon: $(BUILD)/carbon
	cp -f $< $@.tmp && mv -f $@.tmp $@

# Each instruction set's kernels are one file, compiled for it alone; they include no standard inline functions, so
# nothing compiled for a newer CPU can leak into the rest of the program.
$(BUILD)/kernels/cpu/isa_generic.o:     isa_flags = -O3
$(BUILD)/kernels/cpu/isa_avx2.o:        isa_flags = -O3 -mavx2 -mfma -mf16c
$(BUILD)/kernels/cpu/isa_avx512.o:      isa_flags = -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c
$(BUILD)/kernels/cpu/isa_avx512_bf16.o: isa_flags = -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512bf16 -mfma -mf16c

$(BUILD)/%.o: %.cpp $(BUILD)/version.h
	@mkdir -p $(@D)
	$(CXX) $(all_cppflags) $(all_cxxflags) $(isa_flags) -MMD -MP -c -o $@ $<

$(BUILD)/version.h: VERSION
	@mkdir -p $(@D)
	printf '#define CARBON_VERSION "%s"\n' '$(VERSION)' > $@

$(BUILD)/libcarbon.a: $(lib_objects)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/carbon: $(BUILD)/src/main.o $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

$(BUILD)/unit: $(unit_objects) $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

# Checkpoints for tests and the stand-in demonstration model: every weight is a hash of (tensor name, index).
$(BUILD)/make_checkpoint: $(BUILD)/test/tools/make_checkpoint.o $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

$(DEMO_MODEL): $(BUILD)/make_checkpoint
	$(BUILD)/make_checkpoint --preset demo models/carbon-tiny

-include $(lib_objects:.o=.d) $(unit_objects:.o=.d) $(BUILD)/src/main.d $(BUILD)/test/tools/make_checkpoint.d

check test: carbon $(BUILD)/unit $(BUILD)/make_checkpoint $(DEMO_MODEL)
	BUILD=$(BUILD) test/run.sh

demo: all
	test/demo.sh

install: all
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
	$(INSTALL) -m 755 carbon $(DESTDIR)$(bindir)/carbon
	$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 models/carbon-tiny/* $(DESTDIR)$(datadir)/carbon/models/carbon-tiny

uninstall:
	rm -f $(DESTDIR)$(bindir)/carbon
	for page in man/*.1; do rm -f $(DESTDIR)$(mandir)/man1/$${page#man/}; done
	rm -rf $(DESTDIR)$(datadir)/carbon/models/carbon-tiny

clean:
	rm -rf $(BUILD) carbon
distclean: clean
	rm -rf config.mk config.log config.status configure autom4te.cache

.PHONY: all check test demo install uninstall clean distclean
.DELETE_ON_ERROR:
