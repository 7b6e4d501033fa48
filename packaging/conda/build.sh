#!/bin/bash
# By conda-build, with its compilers and PREFIX. The program finds its data from where it lies, so a package that is
# installed elsewhere than it was built works.
set -euo pipefail

cuda=no
if [[ ${cuda_compiler_version:-None} != None ]]; then
  # conda keeps nvcc in one prefix, headers and libraries in another; carbon looks for all of them in one folder.
  cuda=$PWD/cuda
  mkdir -p "$cuda/bin"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$BUILD_PREFIX/bin/nvcc" > "$cuda/bin/nvcc"
  chmod +x "$cuda/bin/nvcc"
  ln -s "$PREFIX/targets/x86_64-linux/include" "$cuda/include"
  ln -s "$PREFIX/targets/x86_64-linux/lib" "$cuda/lib64"
fi

autoconf
./configure --prefix="$PREFIX" --with-cuda="$cuda" --with-cuda-arch="75 80 90" \
  CPPFLAGS="-I$PREFIX/include ${CPPFLAGS:-}" LDFLAGS="-L$PREFIX/lib -Wl,-rpath,$PREFIX/lib ${LDFLAGS:-}"
make -j"${CPU_COUNT:-1}"
make install
