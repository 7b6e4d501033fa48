# What tests are made of, and the commands that run them; on a GPU: mk/cuda.mk.

unit_sources := $(sort $(filter-out $(left_out),$(wildcard test/unit/*.cpp test/reference/*.cpp)))
unit_objects := $(unit_sources:%.cpp=$(BUILD)/%.o)
host_objects += $(unit_objects) $(BUILD)/test/tools/make_checkpoint.o
# libBigWig reads what carbon writes.
unit.link            = $(link) $(unit_objects) $(BUILD)/libcarbon.a $(all_libs) -lBigWig
# The tests of the kernels with the tiles of AMX in memory, for CPUs without them.
tiles_objects        = $(BUILD)/tiles/isa-avx512_amx.o $(BUILD)/tiles/cpu_machine.o
unit_tiles.link      = $(link) $(filter %/main.o %/exact_bits_test.o $(BUILD)/test/unit/kernels_%,$(unit_objects)) $(tiles_objects) \
                       $(BUILD)/libcarbon.a $(all_libs)
-include $(tiles_objects:.o=.d)
# Checkpoints for tests: every weight is a hash of (tensor name, index).
make_checkpoint.link = $(link_portable) $(BUILD)/test/tools/make_checkpoint.o
# What many cores would do (bench/cores.cpp), which records all calls of ThreadPool::run().
host_objects += $(BUILD)/bench/cores.o
bench_cores.link = $(link) -Wl,--wrap=_ZN6carbon10ThreadPool3runEmRKSt8functionIFvmmEE $(BUILD)/bench/cores.o $(BUILD)/libcarbon.a \
                   $(all_libs)
host_objects += $(BUILD)/bench/products.o
bench_products.link  = $(link) $(BUILD)/bench/products.o $(BUILD)/libcarbon.a $(all_libs)
linked += bench_products unit make_checkpoint bench_cores $(if $(filter avx512_amx,$(isas)),unit_tiles)

check test check-isa: $(BUILD)/carbon $(plugins) $(BUILD)/unit $(if $(filter avx512_amx,$(isas)),$(BUILD)/unit_tiles) $(BUILD)/make_checkpoint $(CUDA_LIBRARY:%=$(BUILD)/%) library
	+BUILD=$(BUILD) $(if $(filter check-isa,$@),test/run_isa.sh,test/run.sh)
# test/run.sh makes them if it runs one of the parts that use them.
emulated-programs: $(BUILD)/check_emulated $(addprefix $(BUILD)/emulated/,carbon carbon-cuda.so bench_gpu)

quick: $(BUILD)/carbon $(plugins) $(BUILD)/unit $(BUILD)/make_checkpoint
	BUILD=$(BUILD) test/run.sh quick

# What the compiler says of the program, without compiling it: no objects are written.
syntax:
	+$(MAKE) --no-print-directory CXXFLAGS='$(CXXFLAGS) -fsyntax-only' syntax-objects
syntax-objects: $(filter $(BUILD)/src/% $(BUILD)/tokenizer/% $(BUILD)/kernels/%,$(host_objects))

SHAPE = 500M
bench: carbon
	./carbon bench --synthetic $(SHAPE)
# What the measurements of mk/cuda.mk and mk/emulated.mk name as what they have measured.
commit = "$$(git describe --always --dirty 2>/dev/null || cat VERSION)"

demo: carbon
	test/demo.sh $(BUILD)/demo.html

# The documents and manual pages as HTML in one folder, for a web server or a browser.
docs:
	$(or $(PYTHON),python3) docs/site.py $(BUILD)/docs
.PHONY: docs

# Where there is no git, an unpacked archive holds sources and what was built, and nothing else. Git also refuses to look at a
# repository of another user. files lists those whose paths are like one of $1.
files = { if test -e .git && git ls-files > /dev/null 2>&1; then git ls-files -co --exclude-standard $1; \
    else find . -path './build*' -prune -o -type f '(' -false $(1:%=-o -path ./%) ')' -print; fi; }
lint:
	$(call files,'*.cpp' '*.hpp' '*.h' '*.inl' '*.cu' '*.cuh') | xargs clang-format --dry-run --Werror
	$(or $(PYTHON),python3) test/check_includes.py
	$(or $(PYTHON),python3) test/check_bases.py
	$(or $(PYTHON),python3) test/check_locale.py
	$(or $(PYTHON),python3) test/check_rooms.py
	@# nvcc names an unnamed namespace after the folder it runs in, so that no two builds would have the same bytes.
	! grep -n '^namespace {' kernels/cuda/*.cu
	$(call files,'*.sh' .ci/run) | xargs shellcheck -S warning
	mandoc -Tlint -W warning man/*.[157]
.PHONY: syntax syntax-objects emulated-programs check test check-isa quick bench demo lint
