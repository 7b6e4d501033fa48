// The page: forms, what they ask of the server, and where the answers are shown.

import {generate, listModels, scan, setApiKey, ServerError} from "./api.js";
import {EXAMPLES} from "./examples.js";
import {entropy, logLikelihood, makeTrack} from "./figure.js";
import {LONGEST, baseTable, fasta, generatingCommand, parseRegion, parseSequence, readingCommands, variantTable} from "./formats.js";
import {setUpVariants} from "./variant.js";
import {Viewer, element, nats, number, percent} from "./viewer.js";

const $ = (id) => document.getElementById(id);
const bases = (count) => (count === 1 ? "1 base" : `${number(count)} bases`);

let model = null;                        // what /v1/models says of the first one
let example = null;                      // the example that the text is, if it is one
let shown = null;                        // what the results show: {name, sequence, track, strand, frames}, and chrom and pos of a region
let reading = null;                      // the AbortController of the request under way
let generating = null;
let retry = null;                        // what to do again once there is a key
let viewer = null;
let continuationViewer = null;
let continuation = null;                 // {name, bases, track, header}

// -- errors ------------------------------------------------------------------------------------------------

/// Shows an error of the server in words, with a button to try again. If the server wants a key, asks for it.
function showProblem(place, error, again) {
  if (!(error instanceof ServerError)) throw error;
  if (error.status === 401) { askForKey(again); return; }
  const button = element("button", {type: "button", textContent: "Try again", onclick: again});
  place.replaceChildren(element("div", {class: "problem"},
      element("strong", {textContent: error.message}), " ", error.advice, " ", button));
}

function askForKey(again) {
  retry = again;
  if ($("key-field").value !== "") $("key-label").textContent = "The server did not accept this key. API key:";
  $("key").hidden = false;
  $("key-field").select();
}

$("key").addEventListener("submit", async (event) => {
  event.preventDefault();
  setApiKey($("key-field").value);
  $("key").hidden = true;
  if (!model) await showModel();
  if (retry) retry();
});

// -- the model ---------------------------------------------------------------------------------------------

async function showModel() {
  try {
    const models = await listModels();
    model = models[0] || null;
    if (!model) { $("model").textContent = "The server has no model."; return; }
    $("model").replaceChildren("Model ", element("strong", {textContent: model.id}), ` of the family ${model.family}`,
        model.max_bases ? `, which reads up to ${bases(model.max_bases)} at once.` : ".");
    $("demonstration").hidden = !model.demonstration;
    markExample();
    showCommands();
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    $("model").textContent = error.status === 401 ? "The server names its model to those who have a key." : "No model is known.";
    if (error.status === 401) askForKey(read);
  }
}

// -- the sequence ------------------------------------------------------------------------------------------

function showExamples() {
  for (const item of EXAMPLES) {
    $("examples").append(element("button", {
      type: "button", textContent: item.button, "aria-pressed": "false", id: `example-${item.id}`,
      onclick: () => { chooseExample(item); read(); },
    }));
  }
}

function chooseExample(item) {
  $("text").value = fasta(`${item.id} ${item.title}, ${item.place}`, item.sequence);
  example = item;
  markExample();
  checkText();
}

function markExample() {
  for (const item of EXAMPLES) $(`example-${item.id}`).setAttribute("aria-pressed", String(item === example));
  $("about-example").replaceChildren(...(example ?
    [element("strong", {textContent: `${example.title}. `}), `${example.text} `,
      ...(model?.demonstration && example.demonstration ? [`${example.demonstration} `] : []),
      element("small", {textContent: example.place})] : []));
}

/// Reads the text field; says what is wrong with it, or was changed. Gives null if it cannot be used.
function checkText() {
  const region = parseRegion($("text").value);
  const parsed = region ? {name: region, region, sequence: "", notes: ["A region of the server's FASTA."], faults: []} :
    parseSequence($("text").value);
  const {sequence, notes, faults} = parsed;
  const problems = [];
  if (faults.length > 0) {
    problems.push(`These are not letters of a sequence: ${faults.join("; ")}. ` +
        "Bases are A, C, G, T (or U), N, and the IUPAC letters R Y S W K M B D H V.");
  }
  if (sequence.length > LONGEST) {
    problems.push(`This page takes up to ${number(LONGEST)} bases, and this is ${number(sequence.length)}. ` +
        "Use carbon scan on the command line.");
  }
  if (example === null && sequence.length > 0) notes.unshift(`${bases(sequence.length)}.`);
  $("text-notes").replaceChildren(
      ...problems.map((text) => element("p", {class: "problem", textContent: text})),
      ...(notes.length ? [element("p", {class: "note", textContent: notes.join(" ")})] : []));
  $("text").setAttribute("aria-invalid", String(problems.length > 0));
  if (problems.length > 0) hideResults();
  return problems.length > 0 ? null : parsed;
}

function useText(text) {
  $("text").value = text;
  example = null;
  $("own").open = true;
  markExample();
  return checkText();
}

async function useFile(file) {
  if (file.size > 20 * LONGEST) {
    hideResults();
    $("text-notes").replaceChildren(element("p", {class: "problem", textContent:
        `${file.name} is too large for this page. Use carbon score or carbon scan on the command line.`}));
    return;
  }
  const parsed = useText(await file.text());
  if (parsed && parsed.sequence) read();
}

$("text").addEventListener("input", () => { example = null; markExample(); checkText(); });
$("file").addEventListener("change", () => { if ($("file").files[0]) useFile($("file").files[0]); $("file").value = ""; });
$("sequence").addEventListener("submit", (event) => { event.preventDefault(); read(); });
for (const id of ["strand", "frames"]) $(id).addEventListener("change", () => { if (shown) read(); });

addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  document.body.classList.remove("dropping");
  if (event.dataTransfer.files.length === 0) return;
  event.preventDefault();
  useFile(event.dataTransfer.files[0]);
});

// -- reading it --------------------------------------------------------------------------------------------

/// Asks the server for the probabilities of the sequence, and shows them.
async function read() {
  const parsed = checkText();
  if (!parsed) { $("text").focus(); return; }
  if (parsed.sequence === "" && !parsed.region) {
    hideResults();
    $("own").open = true;
    $("text-notes").replaceChildren(element("p", {class: "problem",
      textContent: "There is no sequence yet: paste one, or choose an example."}));
    $("text").focus();
    return;
  }
  const from = example;                  // the user may choose another while the server works
  const settings = {strand: $("strand").value, frames: Number($("frames").value)};
  reading?.abort();
  const mine = reading = new AbortController();
  $("problem").replaceChildren();
  $("progress").textContent = `Reading ${parsed.region || bases(parsed.sequence.length)}…`;
  try {
    const {sequence, logp, chrom, pos} =
      await scan(parsed.region ? {region: parsed.region} : {sequence: parsed.sequence}, settings, mine.signal);
    if (mine !== reading) return;
    shown = {name: parsed.name, sequence, track: makeTrack(sequence, logp), chrom, pos, ...settings};
    $("progress").textContent = "Done.";
    showResults(from);
  } catch (error) {
    if (mine !== reading || error.name === "AbortError") return;
    hideResults();
    showProblem($("problem"), error, read);
  }
}

/// Nothing stands below an error that belongs to another sequence.
function hideResults() {
  reading?.abort();
  generating?.abort();
  shown = null;
  viewer?.remove();
  viewer = null;
  $("progress").textContent = "";
  for (const id of ["results", "continuation", "commands"]) $(id).hidden = true;
}

function showResults(from) {
  for (const id of ["results", "continuation", "commands"]) $(id).hidden = false;
  $("results-title").textContent = from ? from.title : shown.name === "sequence" ? "Your sequence" : shown.name;
  showSummary();
  viewer?.remove();
  viewer = new Viewer($("viewer"), shown.track, {
    name: from ? from.title : shown.name,
    marks: from ? from.marks : [],
    focus: from ? from.focus : 1,
    place: (i) => {
      if (from) return `${from.contig}:${number(from.first + from.step * i)}`;
      return shown.chrom ? `${shown.chrom}:${number(shown.pos + i)}` : "";
    },
  });
  generating?.abort();
  $("generated").hidden = true;
  $("generate-progress").textContent = "";
  $("generate-problem").replaceChildren();
  showCommands();
}

function showSummary() {
  const {track, sequence} = shown;
  let values = 0;
  let sum = 0;
  let right = 0;
  let bits = 0;
  for (let i = 0; i < track.length; ++i) {
    const v = logLikelihood(track, i);
    if (Number.isNaN(v)) continue;
    ++values;
    sum += v;
    bits += 2 - entropy(track, i) / Math.LN2;
    // Letters that are as likely as others are no guess.
    if ([0, 1, 2, 3].filter((k) => track.lnp[4 * i + k] >= v - 1e-5).length === 1) ++right;
  }
  const gc = (sequence.match(/[GCS]/g) || []).length / Math.max(1, (sequence.match(/[ACGTSW]/g) || []).length);
  const facts = [["Bases", number(track.length), values < track.length ? `${number(values)} with a value` : ""],
    ["G and C", percent(gc), ""]];
  if (values > 0) {
    facts.push(["Mean log-likelihood", `${nats(sum / values)} nats`, `as unsure as among ${Math.exp(-sum / values).toFixed(2)} letters`],
        ["Most likely letter is right", percent(right / values), "guessing: 25 %"],
        ["Mean information", `${(bits / values).toFixed(2)} bits`, "of 2 at a base"]);
  }
  $("summary").replaceChildren(...facts.map(([name, value, note]) => element("div", {},
      element("dt", {textContent: name}), element("dd", {}, value, ...(note ? [element("small", {textContent: note})] : [])))));
}

// -- files -------------------------------------------------------------------------------------------------

function save(name, text, type) {
  const link = element("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(ending) { return `${shown.name.replace(/[^\w.-]+/g, "_")}${ending}`; }

/// Saves a file when a button is pressed; what() gives its ending and its text.
function onSave(id, type, what) {
  $(id).addEventListener("click", () => { const [ending, text] = what(); save(fileName(ending), text, type); });
}

onSave("save-bases", "text/tab-separated-values", () => [".tsv", baseTable(shown.name, shown.track)]);
onSave("save-variants", "text/tab-separated-values", () => [".snv.tsv", variantTable(shown.name, shown.track)]);
onSave("save-sequence", "text/x-fasta", () => [".fa", fasta(shown.name, shown.sequence)]);
onSave("save-continuation", "text/x-fasta", () => [".new.fa", fasta(continuation.header, continuation.bases)]);
onSave("save-generated-bases", "text/tab-separated-values",
    () => [".new.tsv", baseTable(continuation.name, continuation.track)]);
for (const [id, part] of [["viewer", ""], ["generated-viewer", ".new"]]) {
  $(id).addEventListener("save", ({detail}) => save(fileName(`${part}.${detail.figure}.svg`), detail.svg, "image/svg+xml"));
}

// -- the continuation --------------------------------------------------------------------------------------

function generateSettings() {
  const bound = (id, otherwise) => ($(id).value === "" ? otherwise : Number($(id).value));
  const gc = [bound("gc-least", 0), bound("gc-most", 100)];
  return {length: Number($("length").value), temperature: Number($("temperature").value), seed: Number($("seed").value),
    greedy: $("greedy").checked, gc: gc[0] > 0 || gc[1] < 100 ? gc : null,
    avoid: $("avoid").value.toUpperCase().split(/[\s,;]+/).filter((motif) => motif !== "")};
}

/// Bases in groups of ten, six to a line.
function groups(bases) { return (bases.match(/.{1,60}/g) || []).map((line) => line.match(/.{1,10}/g).join(" ")).join("\n"); }

async function startGenerating() {
  const settings = generateSettings();
  const prompt = shown.sequence;
  const {name} = shown;
  generating?.abort();
  const mine = generating = new AbortController();
  continuationViewer?.remove();
  continuationViewer = null;
  continuation = {name: `${name}.new`, bases: "", track: null, header: ""};
  const work = continuation;
  const fresh = element("mark");
  $("bases").replaceChildren(element("span", {class: "prompt", textContent: `${groups(prompt.slice(-60))}\n`}), fresh);
  $("generated").hidden = false;
  $("generate-problem").replaceChildren();
  $("save-generated-bases").hidden = true;
  $("stop").hidden = false;
  const told = {at: 0};                  // when progress was said last: not with every piece
  const progress = (ending) => {
    work.header = `${name} sample=1 seed=${settings.greedy ? 0 : settings.seed} length=${work.bases.length}`;
    if (!ending && performance.now() - told.at < 1000) return;
    told.at = performance.now();
    $("generate-progress").textContent = `${number(work.bases.length)} of ${number(settings.length)} new bases${ending}`;
  };
  progress("");
  try {
    const end = await generate({prompt, ...settings}, (bases) => {
      if (mine !== generating) return;
      work.bases += bases;
      fresh.textContent = groups(work.bases);
      $("bases").scrollTop = $("bases").scrollHeight;
      progress("");
    }, mine.signal);
    if (mine !== generating) return;
    progress(".");
    if (end) showGenerated(work, end);
  } catch (error) {
    if (mine !== generating) return;
    if (error.name === "AbortError") {
      progress(": stopped.");
    } else {
      if (work.bases === "") $("generate-progress").textContent = ""; else progress(": not complete.");
      showProblem($("generate-problem"), error, startGenerating);
    }
  } finally {
    if (mine === generating) { $("stop").hidden = true; generating = null; }
    if (work.bases === "" && work === continuation) $("generated").hidden = true;
  }
}

function showGenerated(work, {logp, probabilities}) {
  if (typeof logp === "number") work.header += ` logp=${Number(logp.toPrecision(10))}`;
  if (!Array.isArray(probabilities) || probabilities.length !== work.bases.length) return;
  work.track = makeTrack(work.bases, probabilities.map((row) => row && row.map(Math.log)));
  $("save-generated-bases").hidden = false;
  continuationViewer = new Viewer($("generated-viewer"), work.track, {name: `Continuation of ${shown.name}`, heatmap: false});
}

$("generate").addEventListener("submit", (event) => { event.preventDefault(); startGenerating(); });
$("stop").addEventListener("click", () => { generating?.abort(); $("start").focus(); });
$("generate").addEventListener("input", () => {
  $("temperature").disabled = $("seed").disabled = $("greedy").checked;
  showCommands();
});

// -- command lines -----------------------------------------------------------------------------------------

function showCommands() {
  if (!shown) return;
  const common = {model: model?.id, file: fileName(".fa")};
  $("commands-file").textContent = common.file;
  const list = readingCommands({...common, strand: shown.strand, frames: shown.frames});
  if ($("generate").checkValidity()) list.push(generatingCommand({...common, ...generateSettings()}));
  $("command-list").replaceChildren(...list.map(({what, command}) => element("div", {class: "command"},
      element("span", {textContent: what}), element("code", {textContent: command}),
      element("button", {type: "button", class: "screen", textContent: "Copy", "aria-label": `Copy: ${what}`,
        onclick: (event) => copy(command, event.target)}))));
}

async function copy(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);   // only where the page is https or on this machine
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.previousSibling);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  $("copied").textContent = done ? "Copied." : "Selected: press Control and C to copy.";
  setTimeout(() => { button.textContent = "Copy"; $("copied").textContent = ""; }, 2000);
}

// -- a variant ---------------------------------------------------------------------------------------------

const BRCA1 = EXAMPLES.find((item) => item.id === "brca1");
setUpVariants({model: () => model, showProblem,
  example: BRCA1.sequence.slice(0, BRCA1.focus - 1) + "[T/G]" + BRCA1.sequence.slice(BRCA1.focus)});

// -- begin: the example that the address names, as in /#brca1, or the first one -----------------------------

showExamples();
chooseExample(EXAMPLES.find((item) => `#${item.id}` === location.hash) || EXAMPLES[0]);
await showModel();
if (model) read();
else if ($("key").hidden) showProblem($("problem"), new ServerError(0, "The server does not answer.", "Is carbon serve still running?"),
    async () => { $("problem").replaceChildren(); await showModel(); if (model) read(); });
