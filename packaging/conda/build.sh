#!/bin/bash
# By conda-build, with its compilers and PREFIX. The program finds its data from where it lies, so a package that is
# installed elsewhere than it was built works.
set -euo pipefail

autoconf
./configure --prefix="$PREFIX" CPPFLAGS="-I$PREFIX/include ${CPPFLAGS:-}" \
  LDFLAGS="-L$PREFIX/lib -Wl,-rpath,$PREFIX/lib ${LDFLAGS:-}"
make -j"${CPU_COUNT:-1}"
make install
