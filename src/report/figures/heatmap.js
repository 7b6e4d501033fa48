// The map of every SNV: rows A, C, G and T, a column for each base, and as colour how much less or more
// likely than the actual base the model finds the other letter: ln P(alternative) - ln P(reference), in nats.

import {LETTERS, forColumns, label, layout, logRatio, pathOf, positionAxis, px, svgOf} from "./figure.js";

const HEAT = {top: 4, axis: 24, title: 22, legend: 44};   // heights in pixels
const SHADES = 24;                                        // steps of colour on each side of the middle

function mix(from, to, part) {
  const channel = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  return "#" + [0, 1, 2].map((i) => Math.round(channel(from, i) + (channel(to, i) - channel(from, i)) * part)
      .toString(16).padStart(2, "0")).join("");
}

/// The colour of a shade, from -SHADES (much less likely) to SHADES (much more likely).
function shadeColour(shade, theme) {
  const stops = [theme.middle, ...(shade < 0 ? theme.less : theme.more)];
  const at = Math.abs(shade) / SHADES * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[i], stops[i + 1], at - i);
}

/// The value at which the colours end: 19 of 20 values lie within it. At least 1, a multiple of a half.
export function heatmapLimit(track) {
  const values = [];
  const stride = Math.max(1, Math.floor(track.length / 5000));   // a sample of a long sequence will do
  for (let i = 0; i < track.length; i += stride) {
    if (track.base[i] < 0) continue;
    for (let k = 0; k < 4; ++k) {
      const v = Math.abs(logRatio(track, i, k));
      if (k !== track.base[i] && Number.isFinite(v)) values.push(v);
    }
  }
  values.sort((a, b) => a - b);
  const most = values.length ? values[Math.floor(0.95 * (values.length - 1))] : 1;
  return Math.max(1, Math.ceil(2 * most) / 2);
}

/// The value of row k for bases i to j - 1: their mean, without bases that are letter k themselves.
/// "reference" if all of them are, null if there is none.
function cellValue(track, i, j, k) {
  let sum = 0;
  let count = 0;
  let reference = false;
  for (let b = i; b < j; ++b) {
    const value = logRatio(track, b, k);
    if (Number.isNaN(value)) continue;
    if (track.base[b] === k) { reference = true; continue; }
    sum += value;
    ++count;
  }
  if (count > 0) return Number.isNaN(sum) ? null : sum / count;   // some of them are ∞, others −∞
  return reference ? "reference" : null;
}

/// The height of a row, and its place in a map of this height.
export function heatmapRow(height) {
  const high = (height - HEAT.top - HEAT.axis) / 4;
  return {high, top: (k) => HEAT.top + k * high, at: (y) => Math.min(3, Math.max(0, Math.floor((y - HEAT.top) / high)))};
}

/// The map as the text of an SVG. Options: width, height; limit, the value where colours end, by default
/// heatmapLimit(track); theme; title, for a file that stands alone, which gets the legend too.
export function heatmapSvg(track, view, {width, height = 128, limit = heatmapLimit(track), theme, title = ""}) {
  const {left, right, x, unit, step} = layout(view, width);
  const row = heatmapRow(height);
  const cells = new Map();               // path data by colour: few elements, however many cells
  let dots = "";
  const wide = unit * step;
  const inset = wide >= 5 ? 0.5 : 0;     // a seam between cells that are wide enough
  const add = (colour, i, k, span) => {
    const box = `M${px(x(i) + inset)} ${px(row.top(k) + 0.5)}h${px(unit * span - 2 * inset)}` +
        `v${px(row.high - 1)}H${px(x(i) + inset)}Z`;
    cells.set(colour, (cells.get(colour) || "") + box);
  };
  forColumns(track, view, step, (i, j) => {
    for (let k = 0; k < 4; ++k) {
      const value = cellValue(track, i, j, k);
      if (value === null) {
        add(theme.nothing, i, k, j - i);
      } else if (value === "reference") {
        add(theme.reference, i, k, j - i);
        if (wide < 5) continue;
        const r = Math.min(3.2, wide * 0.28);
        dots += `M${px(x(i) + wide / 2 - r)} ${px(row.top(k) + row.high / 2)}a${px(r)} ${px(r)} 0 1 0 ${px(2 * r)} 0` +
            `a${px(r)} ${px(r)} 0 1 0 ${px(-2 * r)} 0Z`;
      } else {
        const shade = Math.round(Math.max(-1, Math.min(1, value / limit)) * SHADES);
        add(shadeColour(shade, theme), i, k, j - i);
      }
    }
  });
  let body = `<svg x="${left}" y="0" width="${right - left}" height="${height}" ` +
      `viewBox="${left} 0 ${right - left} ${height}">`;
  for (const [colour, data] of cells) body += pathOf(data, colour, ' shape-rendering="crispEdges"');
  body += pathOf(dots, theme.ink) + "</svg>";
  for (let k = 0; k < 4; ++k) {
    body += label(left - 12, row.top(k) + row.high / 2 + 4, LETTERS[k], theme, "middle", ' font-weight="600"');
  }
  body += positionAxis(track, view, width, height - HEAT.axis, theme);
  if (!title) return svgOf(width, height, theme, body);
  const legend = heatmapLegendBody(limit, theme);
  return svgOf(width, height + HEAT.title + HEAT.legend, theme, `<g transform="translate(0 ${HEAT.title})">${body}</g>` +
      `<g transform="translate(${left} ${HEAT.title + height})">${legend}</g>`, title);
}

const LEGEND = {width: 320, height: 40, bar: 200};

function heatmapLegendBody(limit, theme) {
  const one = LEGEND.bar / (2 * SHADES + 1);
  let body = "";
  for (let s = -SHADES; s <= SHADES; ++s) {
    body += `<rect x="${px((s + SHADES) * one)}" y="0" width="${px(one + 0.3)}" height="12" fill="${shadeColour(s, theme)}"/>`;
  }
  body += label(0, 25, `\u2264 \u2212${limit}`, theme, "start") + label(LEGEND.bar / 2, 25, "0", theme) +
      label(LEGEND.bar, 25, `\u2265 ${limit} nats`, theme, "end") +
      label(0, 38, "less likely", theme, "start") + label(LEGEND.bar, 38, "more likely", theme, "end");
  body += `<rect x="226" y="0" width="14" height="12" fill="${theme.reference}"/>` +
      `<circle cx="233" cy="6" r="3" fill="${theme.ink}"/>` + label(246, 10, "reference", theme, "start") +
      `<rect x="226" y="20" width="14" height="12" fill="${theme.nothing}" stroke="${theme.grid}"/>` +
      label(246, 30, "no value", theme, "start");
  return body;
}

/// The legend of the map, with its unit.
export function heatmapLegendSvg(limit, theme) {
  return svgOf(LEGEND.width, LEGEND.height, theme, heatmapLegendBody(limit, theme));
}

/// What the cells show at this zoom, in words.
export function heatmapCaption(view, width) {
  const {step} = layout(view, width);
  return step > 1 ? `Columns: means of ${step} bases. Zoom in for each.` : "A dot marks the reference.";
}
