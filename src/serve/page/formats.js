// Text in and out: what people paste, the tables and FASTA files that they download, and command lines.

import {LETTERS, entropy, hasValue, logLikelihood, logRatio, probability} from "./figure.js";

/// Bases that the page takes. More of them are work for the command line.
export const LONGEST = 100000;
const IUPAC = "ACGTRYSWKMBDHVN";
const FAULTS_SHOWN = 5;

/// Reads a sequence or FASTA. Gives {name, sequence, records, notes, faults}: the first record, in upper case, of
/// so many; notes say what was changed or left out; faults say which letters cannot be read, and where.
export function parseSequence(text) {
  const notes = [];
  const faults = [];
  let name = "";
  let records = 0;
  let sequence = "";
  let faulty = 0;
  let uracil = false;
  let numbered = false;
  text.split(/\r\n|\r|\n/).forEach((line, l) => {
    if (line.startsWith(">")) {
      if (records === 0 && sequence === "") name = line.slice(1).trim().split(/\s+/)[0];
      ++records;
      if (sequence !== "" && records === 1) ++records;       // bases before the first header were a record
      return;
    }
    if (records > 1) return;
    const digits = line.match(/^\s*\d+\s/);                  // as in GenBank files
    if (digits) numbered = true;
    const from = digits ? digits[0].length : 0;
    const bases = [];
    for (let c = from; c < line.length; ++c) {
      let letter = line[c].toUpperCase();
      if (/\s/.test(letter)) continue;
      if (letter === "U") { letter = "T"; uracil = true; }
      if (IUPAC.includes(letter)) { bases.push(letter); continue; }
      if (++faulty <= FAULTS_SHOWN) faults.push(`\u201c${line[c]}\u201d in line ${l + 1}, column ${c + 1}`);
    }
    sequence += bases.join("");
  });
  if (faulty > FAULTS_SHOWN) faults.push(`and ${faulty - FAULTS_SHOWN} more`);
  if (records > 1) notes.push(`This is the first of ${records} sequences; the others are left out.`);
  if (uracil) notes.push("U was read as T.");
  if (numbered) notes.push("Numbers at the beginning of lines were left out.");
  return {name: name || "sequence", sequence, records, notes, faults};
}

/// A place of the server's FASTA, such as chr17:43,094,600-43,094,700, without commas; null for other text.
export function parseRegion(text) {
  const found = text.trim().match(/^([^\s>]+):([\d,]+)(?:-([\d,]+))?$/);
  return found && [`${found[1]}:${found[2]}`, ...(found[3] ? [found[3]] : [])].map((part) => part.replaceAll(",", "")).join("-");
}

/// A change at a place of the server's FASTA, such as chr17:43,094,692 G>T: {place, ref, alt}; null for other text.
export function parsePlacedVariant(text) {
  const found = text.trim().match(/^([^\s>]+:[\d,]+)\s+([a-z]+)>([a-z]+)$/i);
  return found && {place: parseRegion(found[1]), ref: found[2].toUpperCase(), alt: found[3].toUpperCase()};
}

/// Reads a sequence with one change in brackets, such as ACGT[A/G]CC, [AC/A] or [-/T]. Gives {problem} in words,
/// or {sequence, variants, at, ref, alts, notes}: the sequence with the first allele, the changes as in a VCF,
/// and what stands in the brackets, at base `at` (from 1).
export function parseVariant(text) {
  const places = [...text.matchAll(/\[([^[\]]*)\]/g)];
  if (places.length !== 1 || /[[\]]/.test(text.replace(places[0][0], ""))) {
    return {problem: places.length > 1 ? "There are several changes in brackets: score one at a time." :
      "There is no change in brackets: write one, such as [A/G], into the sequence."};
  }
  const [{0: whole, 1: inside, index}] = places;
  const alleles = inside.split(/[/>]/).map((allele) => allele.trim().toUpperCase().replaceAll("U", "T").replace(/^-$/, ""));
  if (alleles.length < 2) return {problem: `${whole} names one allele: write two with a slash, such as [A/G].`};
  const odd = alleles.find((allele) => !/^[ACGTRYSWKMBDHVN]*$/.test(allele));
  if (odd !== undefined) return {problem: `\u201c${odd}\u201d in ${whole} is no allele: use letters of bases, or - for none.`};
  const [ref, ...alts] = alleles;
  if (alts.includes(ref)) return {problem: `The alleles of ${whole} are alike.`};

  const before = parseSequence(text.slice(0, index));
  const around = parseSequence(text.slice(0, index) + " ".repeat(whole.length) + text.slice(index + whole.length));
  if (around.faults.length > 0) return {problem: `These are not letters of a sequence: ${around.faults.join("; ")}.`};
  if (before.records > 1) return {problem: "The change is not in the first sequence: leave only its own."};
  const left = before.sequence;
  const right = around.sequence.slice(left.length);
  const sequence = left + ref + right;
  const found = {sequence, at: left.length + 1, ref, alts, notes: around.notes};
  if (alleles.every((allele) => allele !== "")) {
    return {...found, variants: alts.map((alt) => ({pos: found.at, ref, alt}))};
  }
  // A VCF has no empty alleles: the base before them, or after them at the beginning, belongs to all.
  if (left + right === "") return {problem: "An insertion or deletion needs a base beside it."};
  const pos = Math.max(left.length, 1);
  const anchored = (allele) => (left === "" ? allele + right[0] : left.at(-1) + allele);
  return {...found, variants: alts.map((alt) => ({pos, ref: anchored(ref), alt: anchored(alt)}))};
}

/// FASTA with 60 bases to a line.
export function fasta(header, sequence) {
  return `>${header}\n${(sequence.match(/.{1,60}/g) || []).join("\n")}\n`;
}

/// Per-base values, with the columns of `carbon score -O tsv`: natural logarithms, entropy in nats.
export function baseTable(name, track) {
  const rows = [["#name", "pos", "base", "logp", "entropy", ...LETTERS]];
  for (let i = 0; i < track.length; ++i) {
    if (track.base[i] < 0 || !hasValue(track, i)) continue;
    rows.push([name, i + 1, LETTERS[track.base[i]], sixDigits(logLikelihood(track, i)), sixDigits(entropy(track, i)),
      ...[0, 1, 2, 3].map((k) => sixDigits(probability(track, i, k)))]);
  }
  return tsv(rows);
}

/// Every SNV, with the columns of `carbon scan`: ln P(ALT) - ln P(REF), which it writes as a float of 32 bits.
export function variantTable(name, track) {
  const rows = [["#CHROM", "POS", "REF", "ALT", "CARBON_SCAN"]];
  for (let i = 0; i < track.length; ++i) {
    if (track.base[i] < 0 || !hasValue(track, i)) continue;
    for (let k = 0; k < 4; ++k) {
      if (k !== track.base[i]) rows.push([name, i + 1, LETTERS[track.base[i]], LETTERS[k], sixDigits(Math.fround(logRatio(track, i, k)))]);
    }
  }
  return tsv(rows);
}

function sixDigits(value) { return String(Number(value.toPrecision(6))); }
function tsv(rows) { return rows.map((row) => row.join("\t")).join("\n") + "\n"; }

function quoted(word) {
  return /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/// What one would type for the same values: [{what, command}].
export function readingCommands({model, file, strand, frames}) {
  const m = model ? `-m ${quoted(model)} ` : "";
  const base = file.replace(/\.fa$/, "");
  const scan = `carbon scan ${m}-f ${quoted(file)} --strand ${strand} --frames ${frames}`;
  return [
    frames === 1 ?
      {what: "Probabilities of every base",
        command: `carbon score ${m}-O tsv --strand ${strand} ${quoted(file)} > ${quoted(`${base}.tsv`)}`} :
      {what: "Probabilities and the lowest score of every base, as bigWig files", command: `${scan} -O bigwig -o ${quoted(base)}`},
    {what: "Every single-base change", command: `${scan} -o ${quoted(`${base}.snv.tsv`)}`},
  ];
}

/// What one would type for the same continuation.
export function generatingCommand({model, file, length, temperature, seed, greedy, gc, avoid}) {
  const how = (greedy ? "--greedy" : `--seed ${seed} -T ${temperature}`) + (gc ? ` --gc ${gc.join("-")}` : "") +
      (avoid.length > 0 ? ` --avoid ${quoted(avoid.join(","))}` : "");
  return {what: "The continuation", command: `carbon generate ${model ? `-m ${quoted(model)} ` : ""}-l ${length} ${how} ${quoted(file)}`};
}
