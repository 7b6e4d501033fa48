// The tables and figures of a report: search, sort, copy, save as TSV, and what says that there is more than the
// screen shows. Without this script they are plain tables and pictures.

/// The text of a cell for other programs: numbers with a hyphen for the minus sign and without commas.
function plainText(cell) {
  const text = cell.textContent.replace(/[\t\r\n]+/g, " ");
  return cell.classList.contains("number") ? text.replace("\u2212", "-").replaceAll(",", "") : text;
}

/// The value of a cell for sorting; null for one without a value.
function sortValue(cell, numeric) {
  const text = plainText(cell);
  if (text === "" || text === ".") return null;
  return numeric ? (Number.isNaN(Number(text)) ? null : Number(text)) : text;
}

/// Cells without a value are last in both directions.
function compareValues(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", {numeric: true});
  return down ? -order : order;
}

function sortRows(table, column, down) {
  const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [sortValue(row.cells[column], numeric), row]);
  rows.sort((a, b) => compareValues(a[0], b[0], down));
  body.append(...rows.map(([, row]) => row));
  [...table.tHead.rows[0].cells].forEach((cell, c) => {
    if (c === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function makeButton(words, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.addEventListener("click", act);
  return button;
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    cell.replaceChildren(makeButton(cell.textContent,
        () => sortRows(table, column, cell.getAttribute("aria-sort") === "ascending")));
  });
}

/// The rows that are shown, as text with tabs, which spreadsheets take.
function shownText(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [table.tHead.rows[0], ...rows].map((row) => [...row.cells]
      .filter((cell, c) => !["picture", "links"].some((name) => table.rows[1].cells[c].classList.contains(name))).map(plainText).join("\t"))
      .join("\n") + "\n";
}

const FORMATS = ["SVG", "PNG"];
const PIXELS = 3;   // of a PNG for each of the picture: about 300 to an inch

/// Saves bytes or a text as a file, under the name that it is given.
function saveBlob(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveText(name, type, text) { saveBlob(name, new Blob([text], {type})); }

/// The pixels of an SVG that stands alone, as a PNG.
async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = PIXELS * image.naturalWidth;
  canvas.height = PIXELS * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

/// Saves a picture as a file NAME.svg or NAME.png.
async function savePicture(name, format, svg) {
  if (format === "PNG") saveBlob(`${name}.png`, await pngOf(svg));
  else saveText(`${name}.svg`, "image/svg+xml", `${svg}\n`);
}

/// Below a picture, buttons that save it.
function addSaves(picture) {
  const svg = picture.querySelector("svg");
  const row = document.createElement("div");
  row.className = "saves";
  const name = picture.closest("figure").id + (picture.closest("details") ? "_genome" : "");
  for (const format of FORMATS) {
    const button = makeButton(`Save as ${format}`, () => savePicture(name, format, new XMLSerializer().serializeToString(svg)));
    button.setAttribute("aria-label", `Save the picture \u201c${svg.querySelector("title").textContent}\u201d as ${format}`);
    row.append(button);
  }
  picture.after(row);
}

function addControls(box) {
  const table = box.querySelector("table");
  const note = document.createElement("span");
  note.setAttribute("aria-live", "polite");
  const count = () => {
    const rows = [...table.tBodies[0].rows];
    note.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  const controls = document.createElement("div");
  controls.className = "controls";
  if (box.classList.contains("search")) {
    const search = document.createElement("input");
    search.type = "search";
    search.setAttribute("aria-label", "Search in the table");
    search.placeholder = "Search";
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      count();
    });
    controls.append(search);
    count();
  }
  controls.append(
      makeButton("Download TSV", () => saveText(`${box.id}.tsv`, "text/tab-separated-values", shownText(table))),
      makeButton("Copy these rows", () => copyText(shownText(table)).then(
          () => { note.textContent = "Copied."; }, () => { note.textContent = "The browser did not allow it."; })),
      note);
  box.prepend(controls);
}

/// Files opened from a disk may not use the clipboard of newer browsers; the older way still works there.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copy");
  return undefined;
}

/// The share of positives among what is found, at this share of positives among all; null where nothing is found.
function predictiveValue(sensitivity, specificity, share) {
  const found = sensitivity * share, wrong = (1 - specificity) * (1 - share);
  return found + wrong > 0 ? found / (found + wrong) : null;
}

/// Above a table of thresholds a field for the share of positives, with which the column of predictive values changes.
function addShare(box) {
  const {sensitivity, specificity, value, share, positive} = JSON.parse(box.dataset.predictive);
  const rows = [...box.querySelector("table").tBodies[0].rows];
  const note = box.querySelector("p");
  const input = document.createElement("input");
  input.type = "number";
  Object.assign(input, {min: 0, max: 100, step: "any", value: Number((100 * share).toPrecision(4))});
  const field = document.createElement("label");
  field.append(`Share of ${positive} alleles among those that are judged, in %: `, input);
  const write = () => {
    const wanted = input.valueAsNumber / 100;
    if (!(wanted >= 0 && wanted <= 1)) return;
    for (const row of rows) {
      const number = (column) => Number(plainText(row.cells[column]));
      const found = predictiveValue(number(sensitivity), number(specificity), wanted);
      row.cells[value].textContent = found === null ? "." : String(Number(found.toPrecision(6)));
    }
    note.textContent = `PPV is given for a share of ${positive} alleles of ${Number((100 * wanted).toPrecision(4))} %.`;
  };
  input.addEventListener("input", write);
  box.querySelector(".controls").prepend(field);
}

/// Below a table with rows that do not fit, a button that shows them all.
function addMoreRows(box) {
  const scroll = box.querySelector(".scroll");
  const rows = box.querySelector("table").tBodies[0].rows.length;
  const button = makeButton("", () => { scroll.classList.toggle("whole"); look(); });
  button.className = "more";
  const look = () => {
    const whole = scroll.classList.contains("whole");
    button.hidden = !whole && scroll.scrollHeight <= scroll.clientHeight + 1;
    button.textContent = whole ? "\u2191 Show fewer rows" : `\u2193 More rows below: show all ${rows.toLocaleString("en")}`;
  };
  scroll.after(button);
  new ResizeObserver(look).observe(scroll);
}

/// Marks what is wider than the screen on the sides on which there is more; the style lets these fade out. Keys can move a picture
/// only if it can have the focus.
function markSides(scroll) {
  const picture = scroll.classList.contains("picture");
  if (picture) {
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", scroll.querySelector("title").textContent);
  }
  const look = () => {
    if (picture) scroll.tabIndex = scroll.scrollWidth > scroll.clientWidth ? 0 : -1;
    scroll.classList.toggle("more-left", scroll.scrollLeft > 1);
    scroll.classList.toggle("more-right", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
  };
  scroll.addEventListener("scroll", look, {passive: true});
  new ResizeObserver(look).observe(scroll);
}

/// The point of a figure next to a place, at most `most` pixels away; undefined if there is none.
function nearestPoint(points, x, y, most) {
  let best, least = most * most;
  for (const point of points) {
    const away = (point[0] - x) ** 2 + (point[1] - y) ** 2;
    if (away <= least) [best, least] = [point, away];
  }
  return best;
}

/// What a point stands for, shown beside the pointer.
function addTips(picture) {
  // Another picture of the same points has the words of the first.
  const first = JSON.parse(picture.closest("figure").querySelector("[data-points]").dataset.points);
  const points = JSON.parse(picture.dataset.points).map(([x, y], i) => [x, y, first[i][2]]), svg = picture.querySelector("svg");
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  picture.after(tip);
  const show = (event) => {
    const frame = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / frame.width;
    // A picture that is stretched (zoom.js) has its points elsewhere, and some of them beyond its frame.
    const zoom = picture.zoom, at = (x) => (zoom ? zoomedX(x, zoom.axis, zoom.view) : x);
    const inside = (x) => !zoom || (x >= zoom.axis.left - 1 && x <= zoom.axis.right + 1);
    const placed = points.map(([x, y, words]) => [at(x), y, words]).filter(([x]) => inside(x));
    const point = nearestPoint(placed, (event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale, 10);
    tip.hidden = !point;
    if (!point) return;
    tip.textContent = point[2];
    const left = frame.left + point[0] / scale + 10, top = frame.top + point[1] / scale + 10;
    tip.style.left = `${Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(top, innerHeight - tip.offsetHeight - 4))}px`;
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
}

for (const box of document.querySelectorAll(".table")) {
  makeSortable(box.querySelector("table"));
  addControls(box);
  addMoreRows(box);
  if (box.dataset.predictive) addShare(box);
}
document.querySelectorAll(".scroll, figure .picture").forEach(markSides);
document.querySelectorAll("[data-points]").forEach(addTips);
document.querySelectorAll("figure .picture").forEach(addSaves);
// On a narrow screen the contents would fill the first page.
if (matchMedia("(max-width: 1099px)").matches) document.querySelector("nav details")?.removeAttribute("open");
