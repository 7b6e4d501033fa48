# Headers that are made: the version, the pages of carbon serve and carbon report, the stamp of the CUDA backend.

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
$(BUILD)/src/serve/api.o: $(BUILD)/serve_page.h
# What a report contains. The figures are modules of JavaScript, of which one file is made: figures.js.
report_page_files = $(sort $(wildcard src/report/page/*)) $(figure_style)
$(BUILD)/report_page.h: $(wildcard src/report/page/* src/report/figures/*) $(BUILD)/report_page_files.stamp \
                        $(BUILD)/figure_files.stamp
	@mkdir -p $(@D)
	{ for file in $(report_page_files); do printf '{"%s", R"page(' "$${file##*/}" && cat "$$file" && printf ')page"sv},\n' || \
	    exit; done; printf '{"figures.js", R"page(' && sed -e '/^import /d' -e 's/^export //' $(figure_files) && \
	    printf ')page"sv},\n'; } > $@
$(BUILD)/src/report/html.o: $(BUILD)/report_page.h

# The colours and the outlines of letters stand in the figures' JavaScript, from which the C++ that draws the same takes them: the
# light theme as members of a struct, and the outlines as an array of texts.
$(BUILD)/figure_design.h: src/report/figures/figure.js src/report/figures/logo.js
	@mkdir -p $(@D)
	{ echo 'inline constexpr Colours kLight = {'; sed -n -e '/^  light: {/,/^  },/{' -e '/light: {/d; /^  },/d' \
	    -e 's/: \([0-9.]*\),/: "\1",/g; s/\([a-z]*\): /.\1 = /g; y/[]/{}/; p' -e '}' src/report/figures/figure.js; echo '};'; \
	  echo 'inline constexpr std::string_view kOutlines[] = {'; sed -n -e '/^const OUTLINES = \[/,/^\]/{' -e '/^ /{s/ +$$//; p' -e '}' \
	    -e '}' src/report/figures/logo.js; echo '};'; } > $@

# What program and carbon-cuda.so must agree on: the headers of their interface, the arithmetic of draws, the compiler.
$(BUILD)/backend_stamp.h: kernels/ops.hpp kernels/tensor.hpp kernels/draw_math.hpp kernels/cuda/library.hpp \
                          src/base/error.hpp src/base/random.hpp VERSION $(BUILD)/CXX.stamp
	@mkdir -p $(@D)
	printf '#define CARBON_BACKEND_STAMP "%s-%s-%s"\n' '$(VERSION)' \
	    "$$(cat $(filter-out %.stamp,$^) | cksum | cut -d' ' -f1)" "$$({ $(CXX) -dumpfullversion || $(CXX) -dumpversion; } 2> /dev/null)" > $@

stamps += page_files report_page_files figure_files
