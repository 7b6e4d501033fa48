# Precompiled headers: what nearly every file includes is parsed once, and not hundreds of times.
#
# A file is compiled behind one of mk/precompiled: json.hpp if it includes nlohmann-json, test.hpp if it is a unit test, else std.hpp.
# Each file still includes all that it needs: PRECOMPILED=no compiles without them, as test/other_release.sh does. Compilers that
# are not called g++ or clang++, as those of other machines, do so too, because some of them know no precompiled headers.
PRECOMPILED = $(if $(filter g++ clang++,$(notdir $(lastword $(CXX)))),yes,no)

ifeq ($(PRECOMPILED),yes)
json_sources := $(shell grep -lE 'nlohmann/json\.hpp|serve/(fields|logprobs)\.hpp' /dev/null $(lib_sources) src/cli/main.cpp)
json_objects := $(json_sources:%.cpp=$(BUILD)/%.o)
test_objects := $(filter-out $(optimised_tests),$(unit_objects))
# The kernels have flags of their own (mk/flags.mk), for which no header was compiled.
std_objects  := $(filter-out $(BUILD)/kernels/% $(optimised_tests) $(json_objects) $(test_objects),$(host_objects))
$(std_objects):  headers = -include $(BUILD)/mk/precompiled/std.hpp
$(json_objects): headers = -include $(BUILD)/mk/precompiled/json.hpp
$(test_objects): headers = -include $(BUILD)/mk/precompiled/test.hpp

# The compiler looks for NAME.gch beside a NAME that it is told to include.
precompiled := $(addprefix $(BUILD)/mk/precompiled/,std.hpp json.hpp test.hpp)
$(std_objects) $(json_objects) $(test_objects): | $(precompiled:%=%.gch)
$(precompiled): $(BUILD)/%: %
	@mkdir -p $(@D)
	cp $< $@
precompile = $(compile) -x c++-header
$(precompiled:%=%.gch): $(BUILD)/%.gch: $(BUILD)/% $(BUILD)/precompile.stamp
	$(precompile) $(file_flags) -o $@ $*
$(BUILD)/mk/precompiled/test.hpp.gch: file_flags = $(unit_flags)
$(BUILD)/mk/precompiled/test.hpp.gch: $(BUILD)/unit_flags.stamp
stamps += precompile
endif
