// Text in and out: what people paste, the tables and FASTA files that they download, and command lines.

import {LETTERS, entropy, hasValue, logLikelihood, logRatio, probability} from "./figure.js";

/// Bases that the page takes. More of them are work for the command line.
export const LONGEST = 100000;
const IUPAC = "ACGTRYSWKMBDHVN";
const FAULTS_SHOWN = 5;

/// Reads a sequence or FASTA. Gives {name, sequence, notes, faults}: the first record, in upper case; notes
/// say what was changed or left out; faults say which letters cannot be read, and where.
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
  return {name: name || "sequence", sequence, notes, faults};
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
      {what: "Probabilities of every base, as four bigWig files", command: `${scan} -O bigwig -o ${quoted(base)}`},
    {what: "Every single-base change", command: `${scan} -o ${quoted(`${base}.snv.tsv`)}`},
  ];
}

/// What one would type for the same continuation.
export function generatingCommand({model, file, length, temperature, seed, greedy}) {
  const how = greedy ? "--greedy" : `--seed ${seed} -T ${temperature}`;
  return {what: "The continuation", command: `carbon generate ${model ? `-m ${quoted(model)} ` : ""}-l ${length} ${how} ${quoted(file)}`};
}
