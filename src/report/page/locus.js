// The locus of a row of variants: a click on the row, or Enter on the link in it, makes the address of the page that of the row,
// and what the address names is opened below the table: the values of the row, its links, the alleles near it, and, if the page
// has the bases, their logo.

const LOCUS = {near: 1000, most: 12};   // bases to neighbours on each side, and how many of them are listed

/// "2 bases before", "at the same position".
function distanceWords(bases) {
  if (bases === 0) return "at the same position";
  return `${Math.abs(bases).toLocaleString("en")} ${Math.abs(bases) === 1 ? "base" : "bases"} ${bases < 0 ? "before" : "after"}`;
}

/// Of places {contig, pos} those next to one of them: [place, bases between], the nearest first.
function neighboursOf(place, places) {
  return places.filter((one) => one !== place && one.contig === place.contig && Math.abs(one.pos - place.pos) <= LOCUS.near)
      .map((one) => [one, one.pos - place.pos])
      .sort((a, b) => Math.abs(a[1]) - Math.abs(b[1]) || a[1] - b[1]).slice(0, LOCUS.most);
}

class Loci {
  constructor(box) {
    this.box = box;
    this.table = box.querySelector("table");
    this.heads = [...this.table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const data = box.querySelector("script.loci");
    const loci = data ? JSON.parse(data.textContent) : [];
    const sorted = [...this.table.tHead.rows[0].cells].findIndex((cell) => cell.hasAttribute("aria-sort"));
    const text = (row, name) => row.cells[this.heads.indexOf(name)].textContent;
    this.places = [...this.table.tBodies[0].rows].map((row, r) => ({
      row, locus: loci[r], contig: text(row, "CHROM"), pos: Number(text(row, "POS")),
      name: `${text(row, "CHROM")}:${Number(text(row, "POS")).toLocaleString("en")} ${text(row, "REF")}>${text(row, "ALT")}`,
      alt: text(row, "ALT"), score: `${this.heads[sorted]} ${plainText(row.cells[sorted])}`,
    }));
    this.panel = element("div", {class: "locus", role: "region", tabIndex: -1, hidden: true});
    this.panel.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
    box.append(this.panel);
    this.table.tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (event.target.closest(".links a") || getSelection().toString() !== "") return;
      if (location.hash === `#${row.id}`) this.open(row.id);   // then the address does not change
      else if (!event.target.closest("a")) location.hash = row.id;
    });
  }

  /// Opens the locus of the row of this name, if the table has it.
  open(name) {
    const place = this.places.find((one) => one.row.id === name);
    if (!place) return;
    this.viewer?.remove();
    this.viewer = null;
    this.place = place;
    const close = element("button", {type: "button", textContent: "Close", onclick: () => this.close()});
    this.panel.setAttribute("aria-label", `Locus of ${place.name}`);
    this.panel.replaceChildren(
        element("div", {class: "controls"}, element("h3", {textContent: place.name}), close),
        this.values(place.row), this.neighbours(place));
    this.panel.hidden = false;
    if (place.locus) this.show(place);
    this.panel.scrollIntoView({block: "nearest"});
    this.panel.focus({preventScroll: true});
  }

  close() {
    this.panel.hidden = true;
    this.place.row.querySelector("a").focus();
  }

  values(row) {
    const list = element("dl");
    [...row.cells].forEach((cell, c) => {
      if (cell.classList.contains("picture") || cell.textContent === ".") return;
      const value = element("dd");
      if (cell.classList.contains("links")) value.append(...[...cell.childNodes].map((node) => node.cloneNode(true)));
      else value.textContent = cell.textContent;
      list.append(element("div", {}, element("dt", {textContent: this.heads[c]}), value));
    });
    return list;
  }

  neighbours(place) {
    const near = neighboursOf(place, this.places);
    if (near.length === 0) {
      return element("p", {textContent: `No other allele of the table lies within ${LOCUS.near.toLocaleString("en")} bases.`});
    }
    return element("div", {}, element("p", {textContent: "Alleles of the table that lie near:"}),
        element("ul", {}, ...near.map(([one, bases]) => element("li", {}, element("a", {href: `#${one.row.id}`, textContent: one.name}),
            `, ${distanceWords(bases)}, ${one.score}`))));
  }

  show(place) {
    const {sequence, logp, start, marks, name} = place.locus;
    const container = element("div", {class: "viewer"});
    this.panel.append(container);
    container.addEventListener("save", ({detail}) => savePicture(`${place.row.id}.${detail.figure}`, detail.format, detail.svg));
    this.viewer = new Viewer(container, makeTrack(sequence, logp, start), {name, marks, focus: place.pos - start + 1,
      place: (i) => (i === place.pos - start ? name : ""), formats: FORMATS});
    const row = LETTERS.indexOf(place.alt.toUpperCase());
    if (row >= 0) this.viewer.cursor.row = row;
  }
}

const loci = [...document.querySelectorAll(".table")].filter((box) => box.querySelector("tr[id]")).map((box) => new Loci(box));
function openAddress() {
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* a lone % stands for itself */ }
  for (const one of loci) one.open(name);
}
if (loci.length > 0) {
  addEventListener("hashchange", openAddress);
  openAddress();
}
