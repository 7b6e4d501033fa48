# The sources of the CUDA backend for a CPU, with the device made up by test/cuda_emulation, and the checks of the backend on it.

emulated_objects := $(patsubst %,$(BUILD)/emulated/%.o,$(filter-out %/cublaslt.cpp,$(cuda_sources)) \
                      $(filter-out %_checks.cpp,$(wildcard test/cuda_emulation/*.cpp)))
emulated_checks  := $(patsubst %,$(BUILD)/emulated/%.o,$(wildcard test/gpu/*.cpp) test/cuda_emulation/planted.cu \
                      test/cuda_emulation/choice_checks.cpp)
emulated_bench   := $(patsubst %,$(BUILD)/emulated/%.o,$(filter-out %_cublaslt.cpp,$(wildcard bench/gpu/*.cpp)) \
                      $(wildcard bench/gpu/*.cu))

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
emulated/bench_gpu.link      = $(link) $(emulated_bench) $(emulated_objects) $(BUILD)/libcarbon.a -lutf8proc -lcrypto
emulated/carbon-cuda.so.link = $(link) -shared $(emulated_objects)

# A folder of its own, with a program beside a library that says it has GPUs, for the tests of commands.
$(BUILD)/emulated/carbon: $(BUILD)/carbon | $(BUILD)/emulated/carbon-cuda.so
	cp -f $< $@.tmp && mv -f $@.tmp $@
-include $(addsuffix .d,$(emulated_objects) $(emulated_checks) $(emulated_bench))

linked += check_emulated emulated/bench_gpu emulated/carbon-cuda.so
stamps += compile_emulated compile_watched

# What the host takes for itself beside a GPU like an H100, with 132 multiprocessors; needs none.
bench-host: $(BUILD)/emulated/bench_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint $< --host 132 --model $(SHAPE) \
	    --commit $(commit)
.PHONY: bench-host
