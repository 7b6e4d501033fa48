#!/usr/bin/env bash
# Installs what building, testing and demonstrating carbon needs, with apt (Debian 12, 13 and relatives).
# Changes nothing else. --all-tests adds what tests need that skip without it: those of workflows/, vcfanno, Ensembl VEP's plugin and
# shell completion, comparisons with pandas and scikit-learn, readers of GFF3 and an annotated genome, the notebook and the types of
# python/, and `make docs`; --fuzz adds what make lint, make fuzz and test/other_release.sh need; --packaging adds what the scripts of packaging/ need;
# --list prints the packages and installs nothing.
set -euo pipefail

# libraries COLUMN: from the table of them.
libraries() { awk -v column="$1" '/^[^#]/ { print $column }' "$(dirname "$0")/packaging/libraries"; }

packages=(
  g++ make autoconf
  bcftools samtools tabix mandoc python3 python3-numpy python3-pysam python3-pybigwig libbigwig-dev # tests and `make demo`
)
all_tests=(curl snakemake slurmctld slurmd munge vcfanno libbio-db-hts-perl zsh python3-pandas python3-sklearn nodejs tidy strace
  python3-matplotlib python3-mypy python3-pytest python3-nbclient python3-ipykernel genometools gffread augustus-doc cmark-gfm)
fuzz=(ccache clang clang-format libclang-rt-dev lld llvm shellcheck git mmdebstrap)
packaging=(build-essential debhelper lintian mmdebstrap buildah tcl python3-pip)
list=
for argument in "$@"; do
  case $argument in
    --all-tests) packages+=("${all_tests[@]}") ;;
    --fuzz) packages+=("${fuzz[@]}") ;;
    --packaging) packages+=("${packaging[@]}") ;;
    --list) list=1 ;;
    *)
      echo "Usage: ./install-deps.sh [--all-tests] [--fuzz] [--packaging] [--list]" >&2
      [[ $argument == --help || $argument == -h ]] && exit 0
      exit 1
      ;;
  esac
done
mapfile -t -O "${#packages[@]}" packages < <(libraries 2)
if [[ $list ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

if ! command -v apt-get > /dev/null; then
  cat >&2 << END
install-deps.sh: no apt-get here. What runs on every x86-64 Linux, without a compiler, is the archive that packaging/build-portable.sh
makes on a Debian (docs/install.md, "Making these files"). To build here with conda:

  conda install -c conda-forge -c bioconda cxx-compiler make autoconf $(libraries 4 | xargs) \\
      bcftools samtools numpy pysam pybigwig libbigwig

and in that environment: autoconf && ./configure --prefix="\$CONDA_PREFIX" \\
      CPPFLAGS="-I\$CONDA_PREFIX/include" LDFLAGS="-L\$CONDA_PREFIX/lib -Wl,-rpath,\$CONDA_PREFIX/lib"
END
  exit 1
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo > /dev/null || { echo "install-deps.sh: run it as root, or install sudo" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${packages[@]}"
