// The box for a variant: a sequence with a change in brackets, and its score.

import {ServerError, scoreVariants} from "./api.js";
import {LONGEST, parsePlacedVariant, parseVariant} from "./formats.js";
import {element, nats, number} from "./viewer.js";

const $ = (id) => document.getElementById(id);

const FLAGS = {
  edge: "The change reaches beyond the sequence.",
  non_acgt: "A base of the change, or too many around it, are not A, C, G or T.",
  too_long: "The alleles are too long for the window that is read.",
  multibase: "The change is longer than one base.",
  ref_mismatch: "The server's FASTA has another base there than the first allele.",
};

const BESIDE = 12;                       // bases that are shown on each side of a change

let scoring = null;                      // the AbortController of the request under way

function fail(text) {
  $("variant-text").setAttribute("aria-invalid", "true");
  $("variant-problem").replaceChildren(element("p", {class: "problem", textContent: text}));
}

/// Removes what was said of an earlier variant.
function clear() {
  scoring?.abort();
  scoring = null;
  $("variant-text").setAttribute("aria-invalid", "false");
  for (const id of ["variant-problem", "variant-result"]) $(id).replaceChildren();
  $("variant-result").hidden = true;
  $("variant-progress").textContent = "";
}

const shown = (allele) => (allele === "" ? "\u2013" : allele.length > 24 ? `${allele.slice(0, 20)}\u2026` : allele);

/// The change with some bases on both sides.
function place({sequence, at, ref}, alt) {
  const end = at - 1 + ref.length;
  const before = sequence.slice(Math.max(0, at - 1 - BESIDE), at - 1);
  const after = sequence.slice(end, end + BESIDE);
  return `${at - 1 > BESIDE ? "\u2026" : ""}${before}[${shown(ref)}/${shown(alt)}]${after}${end + BESIDE < sequence.length ? "\u2026" : ""}`;
}

function resultOf(parsed, alt, {score, flag}) {
  const change = parsed.place ? element("span", {}, `${shown(parsed.ref)} \u2192 ${shown(alt)} at ${parsed.place}`) :
    element("span", {}, `${shown(parsed.ref)} \u2192 ${shown(alt)} at base ${number(parsed.at)} of ` +
      `${number(parsed.sequence.length)}: `, element("code", {textContent: place(parsed, alt)}));
  if (score === null) return element("div", {}, element("dt", {}, change), element("dd", {}, "no score",
      element("small", {textContent: FLAGS[flag] || `The reason is \u201c${flag}\u201d, see carbon-vep(1).`})));
  const words = Math.abs(score) < 0.005 ? "The model finds both alike." :
    `The model finds the sequence ${alt === "" ? `without ${shown(parsed.ref)}` : `with ${shown(alt)}`} ` +
    `${score < 0 ? "less" : "more"} likely.`;
  return element("div", {}, element("dt", {}, change),
      element("dd", {}, `${nats(score)} nats`, element("small", {textContent: words})));
}

function show(parsed, results, demonstration) {
  const notes = [...parsed.notes,
    "The score is ln P(sequence with the second allele) \u2212 ln P(sequence with the first), the mean of both strands."];
  $("variant-result").replaceChildren(
      ...(demonstration ? [element("p", {class: "warning"}, element("strong", {textContent: "Demonstration model: not meaningful for variants."}))] : []),
      element("dl", {class: "facts"}, ...results.map((result, i) => resultOf(parsed, parsed.alts[i], result))),
      element("p", {class: "note", textContent: notes.join(" ")}));
  $("variant-result").hidden = false;
}

/// What parseVariant() gives; of a change at a place of the server's FASTA `place` in place of the sequence.
function read(text) {
  const placed = parsePlacedVariant(text);
  if (!placed) return parseVariant(text);
  const {place: at, ref, alt} = placed;
  return {place: at, ref, alts: [alt], variants: [`${at} ${ref}>${alt}`], notes: []};
}

/// Makes the box work. `model()` is what the server says of its model, `showProblem` shows a ServerError, and
/// `example` fills the box.
export function setUpVariants({model, showProblem, example}) {
  async function score() {
    clear();
    const parsed = read($("variant-text").value);
    if (parsed.problem) { fail(parsed.problem); $("variant-text").focus(); return; }
    if (parsed.sequence?.length > LONGEST) {
      fail(`This page takes up to ${number(LONGEST)} bases, and this is ${number(parsed.sequence.length)}. Leave out what is far from the change.`);
      return;
    }
    const mine = scoring = new AbortController();
    $("variant-progress").textContent = "Scoring\u2026";
    try {
      const results = await scoreVariants(parsed.sequence, parsed.variants, mine.signal);
      if (mine !== scoring) return;
      $("variant-progress").textContent = "Done.";
      show(parsed, results, model()?.demonstration);
    } catch (error) {
      if (mine !== scoring || error.name === "AbortError") return;
      if (!(error instanceof ServerError)) throw error;
      $("variant-progress").textContent = "";
      showProblem($("variant-problem"), error, score);
    }
  }
  $("variant").addEventListener("submit", (event) => { event.preventDefault(); score(); });
  $("variant-text").addEventListener("input", clear);
  $("variant-example").addEventListener("click", () => { $("variant-text").value = example; score(); });
}
