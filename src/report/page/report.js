// The tables of a report: search, sort, copy. Without this script they are plain tables.

/// The value of a cell for sorting: numbers as they are meant, with a real minus sign and commas; "." is last.
function sortValue(cell, numeric) {
  const text = cell.textContent;
  if (!numeric) return text;
  const number = Number(text.replace("\u2212", "-").replaceAll(",", ""));
  return text === "" || Number.isNaN(number) ? Infinity : number;
}

function sortRows(table, column, down) {
  const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [sortValue(row.cells[column], numeric), row]);
  const order = (a, b) => (numeric ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b, "en", {numeric: true}));
  rows.sort((a, b) => (down ? order(b[0], a[0]) : order(a[0], b[0])));
  body.append(...rows.map(([, row]) => row));
  [...table.tHead.rows[0].cells].forEach((cell, c) => {
    if (c === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.addEventListener("click", () => sortRows(table, column, cell.getAttribute("aria-sort") === "ascending"));
    cell.replaceChildren(button);
  });
}

/// The rows that are shown, as text with tabs, which spreadsheets take.
function shownText(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [table.tHead.rows[0], ...rows].map((row) => [...row.cells]
      .filter((cell) => !cell.classList.contains("picture")).map((cell) => cell.textContent.replace("\u2212", "-")).join("\t"))
      .join("\n") + "\n";
}

function addControls(box) {
  const table = box.querySelector("table");
  const search = document.createElement("input");
  search.type = "search";
  search.setAttribute("aria-label", "Search in the table");
  search.placeholder = "Search";
  const copy = document.createElement("button");
  copy.type = "button";
  copy.textContent = "Copy these rows";
  const note = document.createElement("span");
  note.setAttribute("aria-live", "polite");
  const count = () => {
    const rows = [...table.tBodies[0].rows];
    note.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    count();
  });
  copy.addEventListener("click", () => copyText(shownText(table)).then(
      () => { note.textContent = "Copied."; }, () => { note.textContent = "The browser did not allow it."; }));
  count();
  const controls = document.createElement("div");
  controls.className = "controls";
  controls.append(search, copy, note);
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

for (const box of document.querySelectorAll(".table.search")) {
  makeSortable(box.querySelector("table"));
  addControls(box);
}
