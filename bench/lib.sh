# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # micros is read, and build, threads, layers, runs are set, by what sources this
# What the scripts of bench/ for CPUs share; they source it. Not a program.

# checkpoint LAYERS DIR: the published 500M shape with so many layers, random weights, bf16.
checkpoint() {
  "$build/make_checkpoint" --hidden 1024 --layers "$1" --heads 16 --kv-heads 8 --head-dim 64 --intermediate 3072 \
    --max-positions 8192 --dtype bf16 "$2"
}

# sequences COUNT BP: FASTA of so many sequences of random bases, s1 and so on.
sequences() {
  awk -v count="$1" -v bp="$2" 'BEGIN { srand(1); for (i = 1; i <= count; ++i) { print ">s" i; s = ""
    for (j = 1; j <= bp; ++j) { s = s substr("ACGT", 1 + int(4 * rand()), 1); if (j % 60 == 0 || j == bp) { print s; s = "" } } } }'
}

# variants COUNT WINDOW FASTA: VCF of so many SNVs of the one sequence of FASTA, far enough apart to share no window.
variants() {
  awk -v count="$1" -v window="$2" 'NR > 1 { bases = bases $0 } END {
    print "##fileformat=VCFv4.2\n##contig=<ID=s1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    for (i = 1; i <= count; ++i) {
      pos = i * window
      ref = substr(bases, pos, 1)
      print "s1\t" pos "\t.\t" ref "\t" (ref == "A" ? "C" : "A") "\t.\t.\t."
    }
  }' "$3"
}

# timed COMMAND...: runs it, its output thrown away, and sets `micros` to the microseconds that passed.
timed() {
  local start=${EPOCHREALTIME/[.,]/}
  "$@" > /dev/null
  micros=$((${EPOCHREALTIME/[.,]/} - start))
}

# medians FILE: of lines "KEY MICROSECONDS" a line "KEY MEDIAN LOWEST HIGHEST" for each key, in seconds, by key.
medians() {
  sort -k1,1g -k2,2g "$1" | awk '
    function flush() {
      if (n) printf "%s %.6f %.6f %.6f\n", key, (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2e6, v[1] / 1e6, v[n] / 1e6
    }
    $1 != key { flush(); key = $1; n = 0 }
    { v[++n] = $2 }
    END { flush() }'
}

# machine: two lines that say where the tables come from.
machine() {
  LC_ALL=C lscpu | sed -n '/^Model name: */{s//CPU /p;q}'
  echo "carbon $(git describe --always --dirty) on $("$build/carbon" --version | sed -n 's/^CPU //p'), $threads threads," \
    "$layers layers, $runs runs each, $(date -u +%F)"
}
