# Flags of single files, which the rule for $(BUILD)/%.o adds.

# The kernels are one text, isa.cpp, compiled for each instruction set alone; they include no standard inline functions, so
# nothing compiled for a newer CPU can leak into the rest of the program. PAIRS: it multiplies pairs of bf16; TILES: in tiles.
isa_optimisation           = -O3
isa_generic.file_flags     = $(isa_optimisation)
isa_avx2.file_flags        = $(isa_optimisation) -mavx2 -mfma -mf16c
isa_avx512.file_flags      = $(isa_optimisation) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c
isa_avx512_vnni.file_flags = $(isa_optimisation) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma -mf16c
isa_avx512_bf16.file_flags = $(isa_avx512_vnni.file_flags) -mavx512bf16 -DPAIRS
isa_avx512_amx.file_flags  = $(isa_avx512_bf16.file_flags) -mamx-tile -mamx-bf16 -DTILES
# GCC's first scheduling pass moves all loads of a tile to its beginning and then has too few registers for its sums.
isa_neon.file_flags        = $(isa_optimisation) -fno-schedule-insns
isa_neon_dotprod.file_flags = $(isa_optimisation) -fno-schedule-insns -march=armv8.2-a+dotprod
isa_neon_bf16.file_flags   = $(isa_optimisation) -fno-schedule-insns -march=armv8.2-a+dotprod+bf16 -DPAIRS
$(isas:%=$(BUILD)/kernels/cpu/isa-%.o): $(BUILD)/kernels/cpu/isa-%.o: kernels/cpu/isa.cpp $(BUILD)/compile.stamp $(BUILD)/isa_%.file_flags.stamp
	@mkdir -p $(@D)
	$(compile) -DISA=$* -DVECTORS='"kernels/cpu/simd_$(firstword $(subst _, ,$*)).hpp"' $(isa_$*.file_flags) -o $@ $<
# For tests, the instructions for tiles in memory.
$(BUILD)/tiles/isa-avx512_amx.o: kernels/cpu/isa.cpp test/unit/tiles_in_memory.hpp $(BUILD)/compile.stamp $(BUILD)/isa_avx512_amx.file_flags.stamp
	@mkdir -p $(@D)
	$(compile) -DISA=avx512_amx -DVECTORS='"kernels/cpu/simd_avx512.hpp"' $(isa_avx512_amx.file_flags) \
	    -include test/unit/tiles_in_memory.hpp -o $@ $<
$(BUILD)/tiles/cpu_machine.o: kernels/cpu/cpu_machine.cpp $(BUILD)/compile.stamp
	@mkdir -p $(@D)
	$(compile) -DCARBON_TILES_IN_MEMORY=1 -o $@ $<
# This code runs for milliseconds and takes long to compile. Of two -O the compiler takes the later.
fast_files  := $(addprefix $(BUILD)/,src/cli/%.o test/unit/%.o test/tools/%.o)
fast_flags   = $(if $(filter -O2,$(lastword $(filter -O%,$(CXXFLAGS)))),-O1)
$(fast_files): file_flags = $(fast_flags)
$(filter $(fast_files),$(host_objects)): $(BUILD)/fast_flags.stamp
# Unit tests most of all: each assertion of doctest is a piece of code, whose exceptions may end the test case. Those that compute
# much themselves, kernels (sums in double), bounds (all sequences of a length) and samplers, would then run longer than they compile.
quick_tests := $(filter-out $(addprefix $(BUILD)/test/unit/,kernels_% bounds_% samplers_%),$(filter $(BUILD)/test/unit/%,$(unit_objects)))
unit_flags   = -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS $(if $(fast_flags),-O0)
$(quick_tests): file_flags = $(unit_flags)
$(quick_tests): $(BUILD)/unit_flags.stamp
# Where data and plugins are installed: `make install prefix=DIR` after `make` compiles one file.
install_dirs = -DCARBON_BINDIR='"$(bindir)"' -DCARBON_DATADIR='"$(datadir)"' -DCARBON_LIBEXECDIR='"$(libexecdir)"'
$(BUILD)/src/base/installed.o: file_flags = $(install_dirs)
$(BUILD)/src/base/installed.o: $(BUILD)/install_dirs.stamp

stamps += fast_flags unit_flags install_dirs $(isas:%=isa_%.file_flags)
