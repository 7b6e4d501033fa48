# What this machine has: libraries, Boost, CUDA; and what is therefore compiled and what is left out.

machine := $(shell $(CXX) -dumpmachine)
x86     := $(filter x86_64% i%86%,$(machine))
aarch64 := $(filter aarch64%,$(machine))

# The flags in the table of libraries.
libraries := $(filter -l%,$(file <packaging/libraries))
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

# The instruction sets for which the kernels are compiled (mk/flags.mk).
isas := generic $(if $(x86),avx2 avx512 avx512_vnni avx512_bf16) $(if $(filter x86_64%,$(machine)),avx512_amx) \
        $(if $(aarch64),neon neon_dotprod neon_bf16)

# What only a server needs, with Boost; the library answers without it.
network_sources := src/serve/http_%.cpp $(patsubst %,src/serve/%.cpp,api page run)
CUDA_LIBRARY := $(if $(filter no,$(WITH_CUDA))$(filter yes,$(LINK_CUDA)),,carbon-cuda.so)
left_out     := $(if $(aarch64),,test/unit/kernels_neon_%.cpp) \
                $(if $(SERVER_CPPFLAGS),,$(network_sources) test/unit/serve_%.cpp test/unit/http_%.cpp) \
                $(if $(FUZZ),src/cli/%.cpp src/bench/%.cpp)
