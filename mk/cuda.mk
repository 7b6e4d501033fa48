# The CUDA backend, carbon-cuda.so or in the program itself, and the programs that check and measure it on this machine's GPU.

cuda_sources  := $(sort $(filter-out kernels/cuda/loader.cpp,$(wildcard kernels/cuda/*.cpp)) $(wildcard kernels/cuda/*.cu))
cuda_objects  := $(cuda_sources:%=$(BUILD)/cuda/%.o)
check_objects := $(patsubst %,$(BUILD)/cuda/%.o,$(wildcard test/gpu/*.cpp))
bench_objects := $(patsubst %,$(BUILD)/cuda/%.o,$(filter-out %_emulated.cpp,$(wildcard bench/gpu/*.cpp)) $(wildcard bench/gpu/*.cu))

cuda_cppflags = -I. -I$(BUILD) -I$(WITH_CUDA)/include $(CPPFLAGS) -DCARBON_CUDA_ARCH='"$(CUDA_ARCH)"'
# -fmad=false for the reason of -ffp-contract=off in the Makefile; --expt-relaxed-constexpr for what device code
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
# wgmma is an instruction of this kind of device alone.
$(BUILD)/cuda/bench/gpu/wgmma.cu.o: private nvcc_arch = -gencode arch=compute_90a,code=sm_90a
compile_cuda = $(CXX) $(cuda_cppflags) $(all_cxxflags) -fPIC -fvisibility=hidden $(depfiles) -c
$(BUILD)/cuda/%.cpp.o: %.cpp $(BUILD)/compile_cuda.stamp | $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile_cuda) -MF $@.d -o $@ $<

# cuBLASLt is not linked: cublaslt.cpp opens it, by the same search.
cuda_rpath = -Wl,-rpath,$(CUDA_RPATH)
cuda_libs = -L$(WITH_CUDA)/lib64 $(if $(CUDA_RPATH),$(cuda_rpath)) -lcudart_static -ldl -lrt -lpthread
ifeq ($(LINK_CUDA)$(filter no,$(WITH_CUDA)),yes)
linked_cuda      = $(filter-out %/stamp.cpp.o,$(cuda_objects))
linked_cuda_libs = $(cuda_libs)
endif
carbon-cuda.so.link = $(link) -shared -Wl,--no-undefined $(cuda_objects) $(cuda_libs)

# Its checks and its bench: without htslib, so that they run where there is only a driver and cuBLASLt. utf8proc comes along,
# as few machines have it; the C++ library does not, as the static one may want a newer C library than the machine's.
link_portable  = $(CXX) $(all_cxxflags) -Wl,--as-needed $(LDFLAGS)
portable_libs  = -lcrypto -Wl,--push-state,-Bstatic -lutf8proc -Wl,--pop-state
check_libs     = $(BUILD)/test/reference/llama.o $(BUILD)/libcarbon.a
check_gpu.link = $(link_portable) $(check_objects) $(cuda_objects) $(check_libs) $(cuda_libs) $(portable_libs)
bench_gpu.link = $(link_portable) $(bench_objects) $(cuda_objects) $(BUILD)/libcarbon.a $(cuda_libs) $(portable_libs)

# For measurements on a GPU, beside these (bench/gpu/first.sh): products of few rows that ask the L2 cache for more bytes than they
# copy, and the checks with code for sm_75 alone, which any later GPU runs from PTX.
hinted_objects := $(addprefix $(BUILD)/cuda/kernels/cuda/linear_stream-,128B.cu.o 256B.cu.o)
$(hinted_objects): $(BUILD)/cuda/kernels/cuda/linear_stream-%.cu.o: kernels/cuda/linear_stream.cu $(BUILD)/compile_nvcc.stamp
	@mkdir -p $(@D)
	$(compile_nvcc) -DCARBON_L2_HINT='".L2::$*"' -MF $@.d -o $@ $<
with_hint = $(link_portable) $(bench_objects) $(filter-out %/linear_stream.cu.o,$(cuda_objects)) \
            $(BUILD)/cuda/kernels/cuda/linear_stream-$1.cu.o $(BUILD)/libcarbon.a $(cuda_libs) $(portable_libs)
bench_gpu-128B.link = $(call with_hint,128B)
bench_gpu-256B.link = $(call with_hint,256B)
sm_75_objects := $(patsubst $(BUILD)/cuda/%,$(BUILD)/cuda/sm_75/%,$(filter %.cu.o %/device.cpp.o,$(cuda_objects)))
$(sm_75_objects): private override CUDA_ARCH = 75
$(BUILD)/cuda/sm_75/%.cu.o: %.cu $(BUILD)/compile_nvcc.stamp
	@mkdir -p $(@D)
	$(compile_nvcc) -MF $@.d -o $@ $<
$(BUILD)/cuda/sm_75/%.cpp.o: %.cpp $(BUILD)/compile_cuda.stamp | $(BUILD)/backend_stamp.h
	@mkdir -p $(@D)
	$(compile_cuda) -MF $@.d -o $@ $<
check_gpu-sm_75.link = $(link_portable) $(check_objects) $(filter-out %.cu.o %/device.cpp.o,$(cuda_objects)) $(sm_75_objects) \
                       $(check_libs) $(cuda_libs) $(portable_libs)
-include $(addsuffix .d,$(cuda_objects) $(check_objects) $(bench_objects) $(hinted_objects) $(sm_75_objects))

measured := bench_gpu-128B bench_gpu-256B check_gpu-sm_75
linked += carbon-cuda.so check_gpu bench_gpu $(measured)
stamps += compile_nvcc compile_cuda

ifeq ($(WITH_CUDA),no)
check-gpu check-gpu-sanitizer bench-gpu gpu-kit:
	@echo "make $@: built without CUDA; needs CUDA 12 or newer (nvcc, cuBLASLt) and no SANITIZE" >&2; exit 1
else
check-gpu: $(BUILD)/check_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint $(BUILD)/check_gpu
check-gpu-sanitizer: $(BUILD)/check_gpu $(BUILD)/make_checkpoint
	CARBON_MAKE_CHECKPOINT=$(BUILD)/make_checkpoint test/gpu/sanitize.sh $(BUILD)/check_gpu
bench-gpu: $(BUILD)/bench_gpu $(BUILD)/make_checkpoint
	BUILD=$(BUILD) bench/gpu/run.sh --commit $(commit)
# All of that for a machine with a GPU and no compiler: bench/gpu/first.sh runs it there.
gpu-kit: $(addprefix $(BUILD)/,carbon carbon-cuda.so check_gpu bench_gpu make_checkpoint $(measured))
	bench/gpu/make_kit.sh $(BUILD) $(BUILD)/gpu-kit.tar.xz
endif
.PHONY: check-gpu check-gpu-sanitizer bench-gpu gpu-kit
