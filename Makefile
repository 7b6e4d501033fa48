# carbon: build, test, install. `make` works without ./configure; ./configure writes config.mk, which overrides the
# defaults below.
#
#   make            ./carbon, the plugins and the bundled model
#   make check      every test that needs no GPU; last line "N passed, N failed"
#   make bench      speed on random weights of the 500M shape (SHAPE=3B, 8B) beside what the machine can do
#   make demo       call variants on samtools' example reads and annotate them
#   make install    honours prefix DESTDIR bindir libexecdir includedir datadir mandir (also: make uninstall)
#   make lint       formatting of the sources, syntax of the man pages
#   make dist       carbon-VERSION.tar.gz of the last commit
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

CXX           = g++
CXXFLAGS      = -O2 -Wall -Wextra
CPPFLAGS      =
LDFLAGS       =
LIBS          =
HTSLIB_CPPFLAGS =
HTSLIB_LDFLAGS  =
WITH_ONEDNN   = auto
INSTALL       = install
SANITIZE      =
BUILD         = $(if $(SANITIZE),build-sanitize,build)

all:

-include config.mk

# Looks for the header and links, which is much faster than compiling the header.
ifeq ($(WITH_ONEDNN),auto)
override WITH_ONEDNN := $(shell printf '\043if !__has_include(<dnnl.hpp>)\n\043error\n\043endif\n\
    extern "C" const void* dnnl_version();\nint main() { return !dnnl_version(); }\n' | \
    $(CXX) $(CPPFLAGS) $(LDFLAGS) -x c++ - -o /dev/null -ldnnl 2>/dev/null && echo yes || echo no)
endif
ifeq ($(WITH_ONEDNN),yes)
ONEDNN_CPPFLAGS = -DCARBON_ONEDNN=1
ONEDNN_LIBS     = -ldnnl
endif
ifneq ($(SANITIZE),)
SAN_FLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

# -ffp-contract=off: a fused multiply-add is written where one is meant, so that every path rounds alike.
all_cppflags = -I. -I$(BUILD) $(ONEDNN_CPPFLAGS) $(HTSLIB_CPPFLAGS) $(CPPFLAGS)
all_cxxflags = -std=c++20 -fopenmp -ffp-contract=off $(CXXFLAGS) $(SAN_FLAGS)
all_libs     = $(HTSLIB_LDFLAGS) -lhts $(ONEDNN_LIBS) -lutf8proc -lcrypto -lsqlite3 -lz $(LIBS)

x86          := $(filter x86_64% i%86%,$(shell $(CXX) -dumpmachine))
lib_sources  := $(filter-out src/main.cpp,$(wildcard src/*.cpp src/*/*.cpp tokenizer/*.cpp)) \
                $(filter-out $(if $(x86),,kernels/cpu/isa_avx%.cpp),$(wildcard kernels/cpu/*.cpp))
unit_sources := $(wildcard test/unit/*.cpp test/reference/*.cpp)
lib_objects  := $(lib_sources:%.cpp=$(BUILD)/%.o)
unit_objects := $(unit_sources:%.cpp=$(BUILD)/%.o)
plugin_names := $(patsubst plugins/%.cpp,%,$(wildcard plugins/*.cpp))
plugins      := $(plugin_names:%=$(BUILD)/plugins/%.so)
DEMO_MODEL   := models/carbon-tiny/model.safetensors

# A program with sanitizers stays in its build folder, and so do its plugins.
all: $(if $(SANITIZE),$(BUILD)/carbon $(plugins),carbon $(plugin_names:%=plugins/%.so)) $(DEMO_MODEL)

carbon: $(BUILD)/carbon
	cp -f $< $@.tmp && mv -f $@.tmp $@
plugins/%.so: $(BUILD)/plugins/%.so
	cp -f $< $@.tmp && mv -f $@.tmp $@

# Each instruction set's kernels are one file, compiled for it alone; they include no standard inline functions, so
# nothing compiled for a newer CPU can leak into the rest of the program.
$(BUILD)/kernels/cpu/isa_generic.o:     file_flags = -O3
$(BUILD)/kernels/cpu/isa_avx2.o:        file_flags = -O3 -mavx2 -mfma -mf16c
$(BUILD)/kernels/cpu/isa_avx512.o:      file_flags = -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c
$(BUILD)/kernels/cpu/isa_avx512_bf16.o: file_flags = -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512bf16 -mfma -mf16c
# Code that runs for milliseconds and takes long to compile. (private: the stamps below are not to inherit it.)
$(BUILD)/src/cmd/%.o $(BUILD)/test/unit/%.o $(BUILD)/test/tools/%.o: private CXXFLAGS := $(patsubst -O2,-O1,$(CXXFLAGS))
# Alone in knowing where data and plugins are installed: `make install prefix=DIR` after `make` compiles two files.
$(BUILD)/src/model/registry.o: file_flags = -DCARBON_DATADIR='"$(datadir)"'
$(BUILD)/src/model/registry.o: $(BUILD)/datadir.stamp
$(BUILD)/src/plugin/loader.o: file_flags = -DCARBON_LIBEXECDIR='"$(libexecdir)"'
$(BUILD)/src/plugin/loader.o: $(BUILD)/libexecdir.stamp

$(BUILD)/%.o: %.cpp $(BUILD)/flags.stamp | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(CXX) $(all_cppflags) $(all_cxxflags) $(file_flags) -MMD -MP -c -o $@ $<

# A plugin is one file and sees of the program only carbon_plugin.h.
$(BUILD)/plugins/%.so: plugins/%.cpp $(BUILD)/flags.stamp | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(CXX) $(all_cppflags) $(all_cxxflags) -fPIC -shared -fvisibility=hidden -MMD -MP -MF $(@:.so=.d) \
	    $(LDFLAGS) -o $@ $<

$(BUILD)/version.h: VERSION
	@mkdir -p $(@D)
	printf '#define CARBON_VERSION "%s"\n' '$(VERSION)' > $@

# What objects depend on besides files; a stamp changes only with its text.
$(BUILD)/flags.stamp:   stamp_text = $(CXX) $(all_cppflags) $(all_cxxflags)
$(BUILD)/datadir.stamp: stamp_text = $(datadir)
$(BUILD)/libexecdir.stamp: stamp_text = $(libexecdir)
$(BUILD)/%.stamp: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(stamp_text))' > $@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/libcarbon.a: $(lib_objects)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/carbon: $(BUILD)/src/main.o $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

$(BUILD)/unit: $(unit_objects) $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

# Checkpoints for tests and the stand-in demonstration model: every weight is a hash of (tensor name, index).
$(BUILD)/make_checkpoint: $(BUILD)/test/tools/make_checkpoint.o $(BUILD)/libcarbon.a
	$(CXX) $(all_cxxflags) $(LDFLAGS) -o $@ $^ $(all_libs)

# Made anew when its recipe changes, not with every link of the program that writes it.
$(DEMO_MODEL): test/tools/make_checkpoint.cpp | $(BUILD)/make_checkpoint
	$(BUILD)/make_checkpoint --preset demo models/carbon-tiny

-include $(plugins:.so=.d) $(lib_objects:.o=.d) $(unit_objects:.o=.d) $(BUILD)/src/main.d $(BUILD)/test/tools/make_checkpoint.d

check test: $(BUILD)/carbon $(plugins) $(BUILD)/unit $(BUILD)/make_checkpoint $(DEMO_MODEL)
	BUILD=$(BUILD) test/run.sh

SHAPE = 500M
bench: carbon
	./carbon bench --synthetic $(SHAPE)

demo: carbon $(DEMO_MODEL)
	test/demo.sh

install: carbon $(plugins) $(DEMO_MODEL)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 \
	    $(DESTDIR)$(libexecdir)/carbon $(DESTDIR)$(includedir) $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
	$(INSTALL) -m 755 carbon $(DESTDIR)$(bindir)/carbon
	$(INSTALL) -m 755 $(plugins) $(DESTDIR)$(libexecdir)/carbon
	$(INSTALL) -m 644 plugins/carbon_plugin.h $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 man/*.5 $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 models/carbon-tiny/* $(DESTDIR)$(datadir)/carbon/models/carbon-tiny

uninstall:
	rm -f $(DESTDIR)$(bindir)/carbon $(patsubst man/%,$(DESTDIR)$(mandir)/man1/%,$(wildcard man/*.1)) \
	    $(patsubst man/%,$(DESTDIR)$(mandir)/man5/%,$(wildcard man/*.5)) $(DESTDIR)$(includedir)/carbon_plugin.h \
	    $(plugin_names:%=$(DESTDIR)$(libexecdir)/carbon/%.so)
	rm -rf $(DESTDIR)$(datadir)/carbon/models/carbon-tiny

dist:
	git archive --prefix=carbon-$(VERSION)/ -o carbon-$(VERSION).tar.gz HEAD

lint:
	git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.h' '*.inl' | xargs clang-format --dry-run --Werror
	mandoc -Tlint -W warning man/*.[15]

clean:
	rm -rf $(BUILD) carbon plugins/*.so
distclean: clean
	rm -rf build build-sanitize config.mk config.log config.status configure configure~ autom4te.cache
	rm -f $(DEMO_MODEL) models/carbon-tiny/config.json models/carbon-tiny/dna_config.json carbon-$(VERSION).tar.gz

.PHONY: all check test bench demo install uninstall dist lint clean distclean FORCE
.DELETE_ON_ERROR:
