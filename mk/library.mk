# libcarbon.so.0: the C interface (include/carbon/carbon.h), of the objects of the program below its commands' options. The Python
# package (python/) loads it.
#
#   make library          $(BUILD)/libcarbon.so.0, and libcarbon.so, which the linker looks for
#   make install-library
#   make wheel            $(BUILD)/carbon_dna-VERSION-py3-none-linux_MACHINE.whl, for machines with the libraries of this one

soname           = libcarbon.so.0
library_sources := $(filter-out src/cli/% src/plugin/% src/bench/% src/report/% $(network_sources),$(lib_sources))
# The place of the library stands for that of the program.
library_objects := $(patsubst $(BUILD)/src/base/installed.o,$(BUILD)/library/installed.o,$(library_sources:%.cpp=$(BUILD)/%.o))

compile_places = $(compile) -DCARBON_BINDIR='"$(libdir)"' -DCARBON_DATADIR='"$(datadir)"' -DCARBON_LIBEXECDIR='"$(libexecdir)"'
$(BUILD)/library/installed.o: src/base/installed.cpp $(BUILD)/compile_places.stamp
	@mkdir -p $(@D)
	$(compile_places) -o $@ $<
-include $(BUILD)/library/installed.d

# Threads of the library may still run when a program lets go of it, so that it stays loaded.
libcarbon.so.0.link = $(link) -shared -Wl,-soname,$(soname) -Wl,--version-script=src/api/libcarbon.map -Wl,-z,nodelete \
    -Wl,--gc-sections $(linked_cuda) $(library_objects) $(all_libs) $(linked_cuda_libs)
linked += libcarbon.so.0
stamps += compile_places
$(BUILD)/libcarbon.so.0: src/api/libcarbon.map
library: $(BUILD)/libcarbon.so.0
	ln -sf $(soname) $(BUILD)/libcarbon.so

# Of a program that is linked with the library, and of its sources.
define pkgconfig
prefix=$(prefix)
includedir=$(includedir)
libdir=$(libdir)

Name: carbon
Description: DNA language models: scores, variants, embeddings, generation
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lcarbon
endef
export pkgconfig
install-library: library
	$(INSTALL) -d $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/carbon $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
	$(INSTALL) -m 755 $(BUILD)/$(soname) $(DESTDIR)$(libdir)
	ln -sf $(soname) $(DESTDIR)$(libdir)/libcarbon.so
	$(INSTALL) -m 644 include/carbon/carbon.h $(DESTDIR)$(includedir)/carbon
	printf '%s\n' "$$pkgconfig" > $(DESTDIR)$(libdir)/pkgconfig/carbon.pc
	$(INSTALL) -m 644 models/carbon-tiny/* $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
# The wheel of the Python package: what an installation has, and the package.
wheel: all library
	rm -rf $(BUILD)/wheel-files
	$(MAKE) --no-print-directory install install-library DESTDIR=$(abspath $(BUILD)/wheel-files)
	CARBON_WHEEL_FILES=$(BUILD)/wheel-files$(prefix) $(or $(PYTHON),python3) python/build_wheel.py $(BUILD)
.PHONY: library wheel install-library
