// Pictures with an axis of positions, stretched along it: what lies within the frame is drawn wider, dots and texts keep their
// shapes, genes above the frame follow, and the axis gets ticks of its own. The tips of report.js ask zoomedX() where a point then lies.

const TICK = "#59636e";                           // colour; pictures are light as files
const STEPS = {zoom: 2, move: 0.5, most: 4096};   // times, shares of what is seen, times at most

/// Round numbers from least to most, at least `apart` from one another.
function roundTicks(least, most, apart) {
  const power = 10 ** Math.floor(Math.log10(apart));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= apart * 0.9999));
  const out = [];
  for (let tick = Math.ceil(least / step) * step; tick <= most; tick += step) out.push(tick);
  return out;
}

/// The part of an axis (shares of it, from and to) after it is widened by a factor around its middle and moved, within its ends.
function nextView({from, to}, factor, move) {
  const wide = Math.min(1, Math.max(1 / STEPS.most, (to - from) * factor));
  const start = Math.min(Math.max(0, (from + to) / 2 + move * (to - from) - wide / 2), 1 - wide);
  return {from: start, to: start + wide};
}

/// Where a pixel of the picture lies when this part of the axis is seen.
function zoomedX(x, {left, right}, {from, to}) {
  return left + ((x - left) / (right - left) - from) / (to - from) * (right - left);
}

/// The ticks of a view: pixels and texts.
function ticksOf(axis, view) {
  const wide = axis.right - axis.left;
  const at = (position) => zoomedX(axis.left + (position - axis.least) / (axis.most - axis.least) * wide, axis, view);
  const seen = (x) => x >= axis.left - 0.5 && x <= axis.right + 0.5;
  if (axis.ticks.length > 0) return axis.ticks.map(([position, words]) => [at(position), words]).filter(([x]) => seen(x));
  const span = (axis.most - axis.least) * (view.to - view.from);
  const least = axis.least + (axis.most - axis.least) * view.from;
  return roundTicks(least, least + span, span * 90 / wide).map((tick) => [at(tick), tick.toLocaleString("en")]).filter(([x]) => seen(x));
}

class Zoom {
  constructor(picture) {
    this.axis = JSON.parse(picture.dataset.axis);
    this.view = {from: 0, to: 1};
    this.picture = picture;
    this.svg = picture.querySelector("svg");
    this.frames = [...this.svg.querySelectorAll("svg")].map((frame) => [frame, frame.getAttribute("viewBox").split(" ").map(Number)]);
    this.ticks = this.svg.querySelector(".ticks");
    picture.zoom = this;
    const buttons = [["\u2212", "Zoom out", STEPS.zoom, 0], ["+", "Zoom in", 1 / STEPS.zoom, 0], ["\u2190", "Move left", 1, -STEPS.move],
      ["\u2192", "Move right", 1, STEPS.move], ["All", "Show all positions", Infinity, 0]];
    const row = picture.nextElementSibling;
    for (const [words, about, factor, move] of buttons) {
      const button = makeButton(words, () => this.show(nextView(this.view, factor, move)));
      button.setAttribute("aria-label", about);
      button.title = about;
      row.append(button);
    }
  }

  show(view) {
    this.view = view;
    for (const [frame, box] of this.frames) this.stretch(frame, box);
    this.drawTicks();
  }

  stretch(frame, [left, top, width, height]) {
    const {axis, view} = this;
    const part = (x) => axis.left + (axis.right - axis.left) * x;
    // The frame is a pixel wider than the axis on each side, for dots at its ends.
    const edge = (left + width - axis.right) * (view.to - view.from);
    frame.setAttribute("viewBox", `${part(view.from) - edge} ${top} ${part(view.to) - part(view.from) + 2 * edge} ${height}`);
    frame.setAttribute("preserveAspectRatio", "none");
    for (const path of frame.querySelectorAll("path")) path.setAttribute("vector-effect", "non-scaling-stroke");
    for (const text of frame.querySelectorAll("text")) {
      const x = Number(text.getAttribute("x"));
      text.setAttribute("transform", `translate(${x} 0) scale(${view.to - view.from} 1) translate(${-x} 0)`);
    }
  }

  drawTicks() {
    const make = (name, settings, text = "") => {
      const one = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(settings)) one.setAttribute(key, value);
      one.textContent = text;
      return one;
    };
    const {bottom} = this.axis;
    const widest = this.svg.viewBox.baseVal.width;
    let free = 0;                        // from where on there is room for a text
    const all = [];
    for (const [x, words] of ticksOf(this.axis, this.view)) {
      all.push(make("path", {fill: "none", stroke: TICK, d: `M${x} ${bottom}v5`}));
      const half = 3.3 * words.length, middle = Math.min(x, widest - half);
      if (middle - half < free) continue;
      all.push(make("text", {x: middle, y: bottom + 17, fill: TICK, "text-anchor": "middle"}, words));
      free = middle + half + 10;
    }
    this.ticks.replaceChildren(...all);
  }
}

document.querySelectorAll("[data-axis]").forEach((picture) => new Zoom(picture));
