// The viewer: strip, logo and map of one track, which share a view and a cursor. It makes its own elements
// inside a container, listens to mouse, touch and keyboard, and draws what is visible with the pure functions
// of logo.js, heatmap.js and overview.js. It knows no server and no other part of the page.

import {LETTERS, THEMES, hasValue, layout, logRatio, logLikelihood, probability} from "./figure.js";
import {logoCaption, logoSvg} from "./logo.js";
import {heatmapCaption, heatmapLegendSvg, heatmapLimit, heatmapRow, heatmapSvg} from "./heatmap.js";
import {overviewSvg, overviewWords} from "./overview.js";

const SPAN = {least: 8, opening: 13};    // fewest bases in view; pixels for a base when a sequence opens
const HEIGHT = {logo: 210, heatmap: 128};
const TABLE_ROWS = 60;

/// An element: element("p", {class: "note", textContent: "..."}, children...). Names with a dash, and class,
/// role and for, become attributes, all others properties.
export function element(name, settings = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) {
    if (key.includes("-") || ["class", "role", "for"].includes(key)) e.setAttribute(key, value);
    else e[key] = value;
  }
  e.append(...children);
  return e;
}

/// Numbers for people: a count, a probability in per cent, and a difference of logarithms with its sign.
export function number(count) { return count.toLocaleString("en"); }
export function percent(p) { return `${(100 * p).toFixed(p > 0 && p < 0.0995 ? 1 : 0)} %`; }
export function nats(v) {
  if (Math.abs(v) < 0.005) return "0.00";
  if (!Number.isFinite(v)) return v < 0 ? "\u2212\u221e" : "\u221e";
  return (v < 0 ? "\u2212" : "+") + Math.abs(v).toFixed(2);
}

/// What the reader's system asks for; paper is light.
function currentTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches ?
    THEMES.dark : THEMES.light;
}

let viewers = 0;                         // to give elements names that are used once

export class Viewer {
  /// Options: name, for the titles of figures; heatmap, whether there is a map of SNVs; marks, as in
  /// overview.js; focus, the base (from 1) at which the view opens; place(i), a text that says where base i
  /// (from 0) lies, or ""; theme(), one of THEMES; formats, in which figures are saved: for each a button, whose
  /// click is an event "save" of the container with {figure, format, svg}.
  constructor(container, track, {name, heatmap = true, marks = [], focus = 1, place = () => "", theme = currentTheme, formats = ["SVG"]}) {
    Object.assign(this, {container, track, name, marks, place, theme, formats});
    this.id = `viewer${++viewers}`;
    this.scale = "probability";
    this.cursor = {i: focus - 1, row: 0};
    this.hover = null;                   // like cursor, under the mouse
    this.limit = heatmapLimit(track);
    this.width = 0;
    this.view = {start: 0, end: track.length};
    this.opened = false;                 // the first view needs the width
    this.focus = focus;
    this.build(heatmap);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.strip);
    this.stop = new AbortController();   // ends all listeners outside of the container
    const outside = {signal: this.stop.signal};
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawAll(), outside);
    addEventListener("beforeprint", () => this.print(true), outside);
    addEventListener("afterprint", () => this.print(false), outside);
  }

  /// Removes the viewer and all that it listens to.
  remove() {
    this.stop.abort();
    this.observer.disconnect();
    this.container.replaceChildren();
  }

  // -- elements ----------------------------------------------------------------------------------------

  build(heatmap) {
    const button = (text, title, act) => element("button", {type: "button", textContent: text, title, "aria-label": title, onclick: act});
    const radio = (value, text, checked) => element("label", {}, element("input", {
      type: "radio", name: `${this.id}-scale`, value, checked, onchange: () => { this.scale = value; this.draw(); },
    }), text);
    this.range = element("span", {class: "range"});
    const tools = element("div", {class: "tools"},
        element("div", {class: "buttons", role: "group", "aria-label": "Zoom and move"},
            button("\u2212", "Zoom out", () => this.zoom(1.6)), button("+", "Zoom in", () => this.zoom(1 / 1.6)),
            button("\u2190", "Move left", () => this.pan(-0.5)), button("\u2192", "Move right", () => this.pan(0.5)),
            button("All", "Show the whole sequence", () => this.show(0, this.track.length))),
        element("fieldset", {class: "switch"}, element("legend", {class: "unseen", textContent: "Height of letters"}),
            radio("probability", "Probability", true), radio("bits", "Information (bits)", false)),
        this.range);

    this.readout = element("div", {class: "readout", "aria-hidden": "true"});
    this.spoken = element("div", {class: "unseen", "aria-live": "polite"});
    this.tip = element("div", {class: "tip", "aria-hidden": "true", hidden: true});

    this.strip = element("div", {class: "stage strip", role: "img", "aria-label": overviewWords(this.track)});
    this.frame = element("div", {class: "frame"});
    const overview = element("figure", {},
        element("figcaption", {}, element("strong", {textContent: "Overview"}),
            " Mean log-likelihood of the bases, in nats; the dashed line is what guessing would reach. ",
            element("span", {class: "screen", textContent: "Drag the frame."})),
        this.strip);

    this.logo = element("div", {
      class: "stage", tabIndex: 0, role: "slider", "aria-label": "Logo: position in the sequence",
      "aria-valuemin": this.position(0), "aria-valuemax": this.position(this.track.length - 1), "aria-describedby": `${this.id}-keys`,
    });
    this.logoNote = element("span");
    const logoFigure = element("figure", {},
        element("figcaption", {}, element("strong", {textContent: "Probabilities"}), " ", this.logoNote, ...this.saveButtons("logo")),
        this.logo);
    this.column = element("div", {class: "column"});

    this.container.replaceChildren(tools, this.readout, overview, logoFigure);
    if (heatmap) {
      this.map = element("div", {
        class: "stage", tabIndex: 0, role: "application", "aria-label": "Map of every single-base change",
        "aria-describedby": `${this.id}-keys`,
      });
      this.mapNote = element("span");
      this.legend = element("div", {class: "legend", role: "img", "aria-label":
          `Colours: orange, less likely than the reference, down to minus ${this.limit} nats; pale, alike; ` +
          `blue, more likely, up to ${this.limit} nats; grey with a dot, the reference.`});
      this.cell = element("div", {class: "cell"});
      this.container.append(element("figure", {},
          element("figcaption", {}, element("strong", {textContent: "Every single-base change"}),
              " Colour: ln P(alternative) \u2212 ln P(reference), in nats. ", this.mapNote,
              ...this.saveButtons("heatmap")),
          this.map, this.legend));
    }
    this.table = element("details", {class: "values", ontoggle: () => this.fillTable()},
        element("summary", {textContent: "These values as a table"}));
    this.container.append(
        element("p", {class: "keys", id: `${this.id}-keys`, textContent:
            "Mouse: drag to move; Ctrl and wheel to zoom, or click a figure first and use the wheel alone. " +
            "Keys: \u2190 \u2192 a base, with Shift ten; Page Up and Down a screen; Home, End; + \u2212 zoom; 0 the whole sequence" +
            (heatmap ? "; \u2191 \u2193 in the map choose a letter." : ".")}),
        this.table, this.spoken, this.tip);

    this.listen(this.logo, false);
    if (this.map) this.listen(this.map, true);
    this.listenStrip();
  }

  // They float to the right, so the last one comes first.
  saveButtons(figure) {
    return [...this.formats].reverse().map((format) => element("button", {type: "button", class: "quiet screen", textContent: `Save as ${format}`,
      "aria-label": `Save the ${figure === "logo" ? "logo" : "map"} in view as ${format}`,
      onclick: () => this.container.dispatchEvent(new CustomEvent("save", {detail: {figure, format, svg: this.svg(figure)}}))}));
  }

  // -- mouse, touch, keyboard --------------------------------------------------------------------------

  listen(stage, rows) {
    const point = (event) => {
      const box = stage.getBoundingClientRect();
      const i = Math.floor(this.layout().position(event.clientX - box.left));
      if (i < 0 || i >= this.track.length) return null;
      return {i, row: rows ? heatmapRow(HEIGHT.heatmap).at(event.clientY - box.top) : this.cursor.row, rows};
    };
    const fingers = new Map();           // where each pointer is that is down
    let moved = 0;
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      stage.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event.clientX);
      moved = 0;
      this.tip.hidden = true;
    });
    stage.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) {
        this.hover = point(event);
        this.drawCursor();
        this.showTip(event);
        return;
      }
      const before = [...fingers.values()];
      fingers.set(event.pointerId, event.clientX);
      const after = [...fingers.values()];
      if (after.length === 1) {
        moved += Math.abs(after[0] - before[0]);
        this.move(-(after[0] - before[0]) / this.layout().unit);
      } else {                           // two fingers: what is between them stays between them
        const apart = (xs) => Math.max(20, Math.abs(xs[0] - xs[1]));
        const middle = (after[0] + after[1]) / 2 - stage.getBoundingClientRect().left;
        this.zoom(apart(before) / apart(after), this.layout().position(middle));
      }
    });
    const up = (event) => {
      if (!fingers.delete(event.pointerId) || event.type !== "pointerup" || moved > 4) return;
      const at = point(event);
      if (at) this.setCursor(at.i, at.row);
    };
    stage.addEventListener("pointerup", up);
    stage.addEventListener("pointercancel", up);
    stage.addEventListener("pointerleave", () => { this.hover = null; this.tip.hidden = true; this.drawCursor(); });
    stage.addEventListener("focus", () => this.drawCursor());
    stage.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (!sideways && !event.ctrlKey && !event.metaKey && document.activeElement !== stage) return;
      event.preventDefault();
      const pixels = (event.deltaMode === 1 ? 16 : 1) * (sideways ? event.deltaX || event.deltaY : event.deltaY);
      if (sideways) this.move(pixels / this.layout().unit);
      else this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, pixels / 300))),
          this.layout().position(event.clientX - stage.getBoundingClientRect().left));
    }, {passive: false});
    stage.addEventListener("keydown", (event) => this.key(event, rows));
  }

  key(event, rows) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {i, row} = this.cursor;
    const screen = Math.max(1, Math.floor(this.view.end - this.view.start));
    const far = event.shiftKey ? 10 : 1;
    const keys = {
      ArrowLeft: () => this.setCursor(i - far, row), ArrowRight: () => this.setCursor(i + far, row),
      PageUp: () => this.setCursor(i - screen, row), PageDown: () => this.setCursor(i + screen, row),
      Home: () => this.setCursor(0, row), End: () => this.setCursor(this.track.length - 1, row),
      "+": () => this.zoom(1 / 1.6, i + 0.5), "=": () => this.zoom(1 / 1.6, i + 0.5),
      "-": () => this.zoom(1.6, i + 0.5), 0: () => this.show(0, this.track.length),
    };
    if (rows) {
      keys.ArrowUp = () => this.setCursor(i, (row + 3) % 4);
      keys.ArrowDown = () => this.setCursor(i, (row + 1) % 4);
    }
    if (!keys[event.key]) return;
    event.preventDefault();
    this.hover = null;
    keys[event.key]();
    if (rows) this.speak();
  }

  listenStrip() {
    let grip = null;                     // where in the frame it was taken, in bases
    const position = (event) => {
      const box = this.strip.getBoundingClientRect();
      return layout({start: 0, end: this.track.length}, this.width).position(event.clientX - box.left);
    };
    const follow = (event) => {
      const start = position(event) - grip;
      this.show(start, start + this.view.end - this.view.start);
    };
    this.strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.strip.setPointerCapture(event.pointerId);
      const at = position(event);
      const inside = at >= this.view.start && at < this.view.end;
      grip = inside ? at - this.view.start : (this.view.end - this.view.start) / 2;
      follow(event);
    });
    this.strip.addEventListener("pointermove", (event) => { if (grip !== null) follow(event); });
    for (const type of ["pointerup", "pointercancel"]) this.strip.addEventListener(type, () => { grip = null; });
  }

  // -- view and cursor ---------------------------------------------------------------------------------

  layout() { return layout(this.view, this.width); }

  /// The position of base i (from 0), as axes show it.
  position(i) { return this.track.first + i; }

  /// What is in view, in words.
  rangeWords() {
    const {view, track} = this;
    const range = `${number(this.position(Math.floor(view.start)))}\u2013${number(this.position(Math.ceil(view.end) - 1))}`;
    return track.first === 1 ? `Bases ${range} of ${number(track.length)}` :
      `Bases ${range}, ${number(Math.ceil(view.end) - Math.floor(view.start))} of ${number(track.length)}`;
  }

  /// Shows bases from start to end (from 0, end not included), or as much of that as there is.
  show(start, end) {
    const length = this.track.length;
    const span = Math.min(length, Math.max(end - start, Math.min(SPAN.least, length)));
    const from = Math.min(Math.max(0, start), length - span);
    this.view = {start: from, end: from + span};
    this.draw();
  }

  move(bases) { this.show(this.view.start + bases, this.view.end + bases); }
  pan(screens) { this.move(screens * (this.view.end - this.view.start)); }

  /// Shows `factor` times as many bases; the base at `about` stays where it is.
  zoom(factor, about = (this.view.start + this.view.end) / 2) {
    const span = this.view.end - this.view.start;
    const next = Math.min(this.track.length, Math.max(Math.min(SPAN.least, this.track.length), span * factor));
    const start = about - (about - this.view.start) * next / span;
    this.show(start, start + next);
  }

  setCursor(i, row) {
    this.cursor = {i: Math.min(Math.max(0, i), this.track.length - 1), row};
    const span = this.view.end - this.view.start;
    const at = this.cursor.i;
    if (at < this.view.start || at + 1 > this.view.end) this.show(at + 0.5 - span / 2, at + 0.5 + span / 2);
    else this.drawCursor();
  }

  // -- drawing -----------------------------------------------------------------------------------------

  resize() {
    const width = Math.floor(this.strip.clientWidth);
    if (width === 0 || width === this.width) return;
    this.width = width;
    if (!this.opened) {
      this.opened = true;
      const span = Math.min(this.track.length, layout(this.view, width).inner / SPAN.opening);
      const start = this.focus === 1 ? 0 : this.focus - span / 2;
      this.show(start, start + span);
    }
    this.drawAll();
  }

  /// On paper: light, and as wide as a page.
  print(start) {
    this.width = start ? 680 : Math.floor(this.strip.clientWidth);
    this.printing = start;
    this.drawNow(true);
  }

  drawAll() { this.stale = true; this.draw(); }

  /// Draws with the next picture of the screen, once, however often it is called before.
  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.drawNow(this.stale); });
  }

  drawNow(all) {
    if (this.width === 0) return;
    this.stale = false;
    const theme = this.printing ? THEMES.light : this.theme();
    const {track, view, width, scale} = this;
    if (all) {
      this.strip.innerHTML = overviewSvg(track, {width, theme, marks: this.marks});
      this.strip.append(this.frame);
      if (this.legend) this.legend.innerHTML = heatmapLegendSvg(this.limit, theme);
    }
    this.logo.innerHTML = logoSvg(track, view, {width, height: HEIGHT.logo, scale, theme, marks: this.marks});
    this.logo.append(this.column);
    this.logoNote.textContent = logoCaption(view, width, scale);
    if (this.map) {
      this.map.innerHTML = heatmapSvg(track, view, {width, height: HEIGHT.heatmap, limit: this.limit, theme});
      this.map.append(this.cell);
      this.mapNote.textContent = heatmapCaption(view, width);
    }
    const {x} = layout({start: 0, end: track.length}, width);
    this.frame.style.left = `${x(view.start)}px`;
    this.frame.style.width = `${Math.max(4, x(view.end) - x(view.start))}px`;
    this.range.textContent = this.rangeWords();
    this.drawCursor();
    clearTimeout(this.tableTimer);
    this.tableTimer = setTimeout(() => this.fillTable(), 250);
  }

  drawCursor() {
    const {x, unit, left, right} = this.layout();
    const {i, row, rows} = this.hover || this.cursor;
    const from = Math.max(left, x(i));
    const to = Math.min(right, x(i) + Math.max(2, unit));
    const hidden = from >= to;
    this.column.hidden = hidden;
    this.column.style.left = `${from}px`;
    this.column.style.width = `${to - from}px`;
    if (this.cell) {
      const place = heatmapRow(HEIGHT.heatmap);
      const one = this.hover ? rows : document.activeElement === this.map;   // one cell, or all four of a base
      this.cell.hidden = hidden;
      this.cell.style.left = `${from}px`;
      this.cell.style.width = `${to - from}px`;
      this.cell.style.top = `${place.top(one ? row : 0)}px`;
      this.cell.style.height = `${place.high * (one ? 1 : 4)}px`;
    }
    this.logo.setAttribute("aria-valuenow", this.position(this.cursor.i));
    this.logo.setAttribute("aria-valuetext", this.words(this.cursor.i));
    this.fillReadout(i);
  }

  /// What lies under the mouse, beside it.
  showTip(event) {
    this.tip.hidden = this.hover === null || event.pointerType === "touch";
    if (this.tip.hidden) return;
    const {i, row, rows} = this.hover;
    this.tip.textContent = rows ? this.cellWords(i, row) : this.words(i);
    const {offsetWidth, offsetHeight} = this.tip;
    const below = event.clientY + 20 + offsetHeight < innerHeight;
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, document.documentElement.clientWidth - offsetWidth - 4))}px`;
    this.tip.style.top = `${below ? event.clientY + 20 : event.clientY - 12 - offsetHeight}px`;
  }

  fillReadout(i) {
    const {track} = this;
    const where = element("span", {class: "where"}, element("strong", {textContent: `Base ${number(this.position(i))}`}),
        ` is ${track.sequence[i]}`, element("small", {textContent: this.place(i)}));
    const letters = hasValue(track, i) ? [0, 1, 2, 3].map((k) => {
      const here = k === track.base[i];
      const bar = element("span", {class: "bar"});
      bar.style.width = `${100 * probability(track, i, k)}%`;
      return element("span", {class: `letter letter-${LETTERS[k]}${here ? " here" : ""}`},
          element("b", {textContent: LETTERS[k]}), element("span", {textContent: percent(probability(track, i, k))}),
          element("small", {textContent: here ? "actual" : track.base[i] < 0 ? "" : `${nats(logRatio(track, i, k))} nats`}), bar);
    }) : [element("span", {class: "none", textContent: "The model gives no value here."})];
    this.readout.replaceChildren(where, ...letters);
  }

  /// A base in words, for screen readers.
  words(i) {
    const {track} = this;
    const head = `Base ${this.position(i)}, ${track.sequence[i]}${this.place(i) ? `, ${this.place(i)}` : ""}: `;
    if (!hasValue(track, i)) return `${head}no value`;
    return head + [0, 1, 2, 3].map((k) => `${LETTERS[k]} ${percent(probability(track, i, k))}`).join(", ");
  }

  /// A cell of the map in words.
  cellWords(i, row) {
    const {track} = this;
    let value = "no value";
    if (track.base[i] === row) value = "the reference";
    else if (!Number.isNaN(logRatio(track, i, row))) value = `${nats(logRatio(track, i, row))} nats`;
    return `Base ${this.position(i)}, ${track.sequence[i]} to ${LETTERS[row]}: ${value}`;
  }

  /// Says the cell at the cursor, a moment after the last key.
  speak() {
    clearTimeout(this.speakTimer);
    this.speakTimer = setTimeout(() => { this.spoken.textContent = this.cellWords(this.cursor.i, this.cursor.row); }, 150);
  }

  /// The bases in view, or the first of them, as a table; only while it is open.
  fillTable() {
    if (!this.table.open) return;
    const {track, view} = this;
    const first = Math.floor(view.start);
    const last = Math.min(track.length, Math.ceil(view.end), first + TABLE_ROWS);
    const cell = (text) => element("td", {textContent: text});
    const rows = [];
    for (let i = first; i < last; ++i) {
      const value = hasValue(track, i);
      const row = element("tr", {}, element("th", {textContent: this.position(i), scope: "row"}), cell(track.sequence[i]),
          cell(value && track.base[i] >= 0 ? logLikelihood(track, i).toFixed(3).replace("-", "\u2212") : ""));
      for (let k = 0; k < 4; ++k) row.append(cell(value ? percent(probability(track, i, k)) : ""));
      for (let k = 0; this.map && k < 4; ++k) {
        row.append(cell(!value || track.base[i] < 0 ? "" : k === track.base[i] ? "ref" : nats(logRatio(track, i, k))));
      }
      rows.push(row);
    }
    const heads = ["Base", "Letter", "ln P", ...[...LETTERS].map((c) => `P(${c})`),
      ...(this.map ? [...LETTERS].map((c) => `to ${c}`) : [])];
    const table = element("table", {},
        element("caption", {textContent: `Bases ${this.position(first)} to ${this.position(last - 1)}` +
            (last < Math.ceil(view.end) ? `, the first ${TABLE_ROWS} in view` : "") +
            (this.map ? "; the columns \u201cto\u201d are changes, in nats" : "")}),
        element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", {textContent: text, scope: "col"})))),
        element("tbody", {}, ...rows));
    this.table.replaceChildren(this.table.firstChild,
        element("div", {class: "scroll", tabIndex: 0, role: "region", "aria-label": "Values in view"}, table));
  }

  /// A figure of what is in view, as an SVG that stands alone: light, for paper.
  svg(figure) {
    const {track, view, scale} = this;
    const width = Math.max(this.width, 480);
    const bases = `bases ${this.position(Math.floor(view.start))} to ${this.position(Math.ceil(view.end) - 1)}`;
    if (figure === "heatmap") {
      return heatmapSvg(track, view, {width, height: HEIGHT.heatmap, limit: this.limit, theme: THEMES.light,
        title: `${this.name}, ${bases}: ln P(alternative) \u2212 ln P(reference)`});
    }
    const unit = scale === "bits" ? "information in bits" : "probabilities";
    return logoSvg(track, view, {width, height: HEIGHT.logo + 22, scale, theme: THEMES.light,
      marks: this.marks, title: `${this.name}, ${bases}: ${unit}`});
  }
}
