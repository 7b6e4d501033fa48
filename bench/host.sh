#!/usr/bin/env bash
# What the host does beside a GPU, by thread: nanoseconds of CPU time for each base of `carbon score` and `carbon scan`, and for
# each SNV of `carbon vep`. Needs no GPU: a model of one small layer gives numbers like those of a large one, so fast that
# reading, formatting, compressing and writing are what takes the time. Runs alternate; the table has medians.
#
#   bench/host.sh
#   OUTPUTS="score:tsv score:tsv.gz" RUNS=3 BUILD="../other/build build" bench/host.sh
#
# From the environment: BUILD (default build, with carbon; the last of several, which have tables of their own, with
# make_checkpoint, too), RUNS (5), OUTPUTS (all of those below), BASES (3000000), SNVS (20000), THREADS (default: all; as many
# threads format and compress). The outputs of vep, with recipe anchored, run only if BUILD has emulated/carbon and
# emulated/carbon-cuda.so (make emulated-programs): an emulated GPU that runs no kernel, so that the first thread does nothing
# but the engine's work.
#
# Columns: CPU time of the threads that read and plan, write, format and compress (the last two: of all such threads
# together), and of the first thread, which computes on a CPU and has the engine's work; the longest of the threads that
# cannot be shared among CPUs, of which the first is one only with an emulated GPU; the sum of what does not compute; CPU time
# of the whole process; and the CPUs that are needed beside one and beside two GPUs for which a base or an SNV takes the time
# that the heading says.
set -euo pipefail
cd "$(dirname "$0")/.."

read -ra builds <<< "${BUILD:-build}"
build=$(realpath "${builds[-1]}")
# shellcheck disable=SC2034 # layers is for machine
runs=${RUNS:-5} threads=${THREADS:-$(nproc)} bases=${BASES:-3000000} snvs=${SNVS:-20000} layers=1
outputs=${OUTPUTS:-score:summary score:bedgraph score:tsv score:tsv.gz scan:tsv scan:tsv.gz scan:bcf scan:vcf.gz scan:bedgraph
  scan:bedgraph.gz scan:bigwig scan:histogram vep:stream vep:file}
# Nanoseconds of one H200 for the 500M model, computed from its prefill and its windows (docs/performance.md has measured ones).
declare -A gpu=([score]=341 [scan]=1800 [vep]=-160000)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

# shellcheck source=bench/lib.sh
. bench/lib.sh
"$build/make_checkpoint" --hidden 128 --layers 1 --heads 4 --kv-heads 2 --head-dim 32 --intermediate 384 \
  --max-positions 8192 --dtype bf16 "$work/model"
sequences $((bases / 49140 + 1)) 49140 > "$work/windows.fa"
sequences 1 "$bases" > "$work/genome.fa"
variants "$snvs" $((bases / (snvs + 1))) "$work/genome.fa" > "$work/in.vcf"

# run OUTPUT NUMBER: a line for thread_times.py table, in $work/COMMAND.NUMBER, of the build with this number.
run() {
  local command=${1%%:*} type=${1#*:} build=${builds[$2]} count=$bases options
  local program=$build/carbon times=$work/$command.$2
  case $1 in
    score:*) options=(-O "${type%.gz}" -o "$work/out.$type" "$work/windows.fa") ;;
    scan:histogram) options=(--histogram "$work/out.histogram" -o "$work/out.tsv" -f "$work/genome.fa") ;;
    scan:bigwig) options=(-O bigwig -o "$work/out" -f "$work/genome.fa") ;;
    scan:*) options=(-o "$work/out.$type" -f "$work/genome.fa") ;;
    vep:*)
      program=$build/emulated/carbon count=$snvs
      [[ -x $program && -e ${program}-cuda.so ]] || return 0
      options=(--device cuda --recipe anchored --horizon 96 -f "$work/genome.fa" "$work/in.vcf")
      [[ $type == stream ]] || options+=(-o "$work/out.vcf")
      ;;
  esac
  [[ $command != score ]] || count=$(((bases / 49140 + 1) * 49140))
  printf '%s\t%s\t' "$1" "$count" >> "$times"
  CARBON_EMULATED_KERNELS=0 CARBON_EMULATED_MULTIPROCESSORS=132 /usr/bin/env python3 bench/thread_times.py run \
    "$program" "$command" -v 0 -m "$work/model" -@ "$threads" "${options[@]}" >> "$times"
}

machine
for ((i = 0; i < runs; ++i)); do
  for output in $outputs; do
    for n in "${!builds[@]}"; do run "$output" "$n"; done
  done
done
for command in score scan vep; do
  for n in "${!builds[@]}"; do
    [[ -e $work/$command.$n ]] || continue
    time=${gpu[$command]}
    printf '\n| %s of %s, ns for each %s; one GPU takes %s ns |%s\n|---|%s\n' "$command" "${builds[$n]}" \
      "$([[ $command == vep ]] && echo SNV || echo base)" "${time#-}" \
      ' read and plan | write | format | compress | first thread | longest serial | sum | whole process | CPUs, 1 GPU | 2 GPUs |' \
      '---|---|---|---|---|---|---|---|---|---|'
    /usr/bin/env python3 bench/thread_times.py table "$work/$command.$n" "$time"
  done
done
