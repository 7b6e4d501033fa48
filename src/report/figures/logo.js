// A sequence logo: at each base the four letters, stacked, as high as their probabilities.
//
// The base that is really there is drawn in full colour and the other three pale, so that what the model got
// right can be seen from afar. Where a base is too narrow for letters it becomes a bar with the actual base
// at its foot, and where many bases share a pixel, the mean height of the actual base is left.

import {forColumns, hasValue, information, label, layout, pathOf, positionAxis, probability, px, svgOf} from "./figure.js";

// Outlines in a box from 0,0 to 1,1. A letter is stretched to its place, so its shape cannot come from a font.
const OUTLINES = [
  "M0 1L.38 0H.62L1 1H.77L.68 .76H.32L.23 1ZM.37 .6H.63L.5 .21Z",
  "M.99 .33C.94 .12 .76 0 .52 0C.2 0 0 .2 0 .5C0 .8 .2 1 .52 1C.76 1 .94 .88 .99 .67L.76 .63" +
      "C.73 .76 .65 .83 .52 .83C.33 .83 .23 .71 .23 .5C.23 .29 .33 .17 .52 .17C.65 .17 .73 .24 .76 .37Z",
  "M.98 .31C.93 .11 .75 0 .52 0C.2 0 0 .2 0 .5C0 .8 .2 1 .52 1C.73 1 .9 .92 1 .82V.46H.53V.62H.78V.74" +
      "C.72 .79 .63 .83 .53 .83C.34 .83 .23 .71 .23 .5C.23 .29 .34 .17 .52 .17C.64 .17 .72 .23 .76 .34Z",
  "M0 0H1V.17H.62V1H.38V.17H0Z",
].map((d) => d.match(/[A-Z][^A-Z]*/g).map((s) => [s[0], (s.match(/[\d.]+/g) || []).map(Number)]));

/// The path of a letter (0 to 3) that fills a box.
export function letterPath(letter, left, top, width, height) {
  let d = "";
  for (const [command, numbers] of OUTLINES[letter]) {
    d += command + numbers.map((v, i) => {
      const vertical = command === "V" || (command !== "H" && i % 2 === 1);
      return px(vertical ? top + v * height : left + v * width);
    }).join(" ");
  }
  return d;
}

const LOGO = {axis: 24, row: 18, top: 8, title: 22};      // heights in pixels
const LETTER_WIDTH = 6;                                   // narrower than this, a letter cannot be read

/// The end of an axis of information: what is there at most, rounded up. An unsure model would else seem to say
/// nothing.
function informationEnd(track) {
  let most = 0;
  for (let i = 0; i < track.length; ++i) if (hasValue(track, i)) most = Math.max(most, information(track, i));
  return [0.1, 0.2, 0.5, 1].find((end) => most <= end) ?? 2;
}

/// A logo as the text of an SVG. Options: width and height in pixels; scale, "probability" or "bits"; theme;
/// marks, [{start, end}] with bases counted from 1, both ends included, to be drawn above; title, for a file
/// that stands alone.
export function logoSvg(track, view, {width, height = 210, scale = "probability", theme, marks = [], title = ""}) {
  const {left, right, x, unit, step} = layout(view, width);
  const top = LOGO.top + (title ? LOGO.title : 0);
  const foot = height - LOGO.axis - LOGO.row;
  const full = foot - top;
  const most = scale === "bits" ? informationEnd(track) : 1;
  const total = (i) => (scale === "bits" ? information(track, i) / most : 1) * full;

  const actual = ["", "", "", ""];       // path data for each letter where it is the actual base
  const others = ["", "", "", ""];
  const row = ["", "", "", ""];          // the sequence below the stacks
  let means = "";
  let unknown = "";

  if (step > 1) {
    forColumns(track, view, step, (i, j) => {
      let sum = 0;
      let count = 0;
      for (let b = i; b < j; ++b) {
        if (track.base[b] < 0 || !hasValue(track, b)) continue;
        sum += total(b) * probability(track, b, track.base[b]);
        ++count;
      }
      if (count > 0) means += `M${px(x(i))} ${foot}v${px(-sum / count)}H${px(x(j))}V${foot}Z`;
    });
  } else {
    const letters = unit >= LETTER_WIDTH;
    const gap = letters ? unit * 0.06 : 0;
    forColumns(track, view, 1, (i) => {
      const here = track.base[i];
      if (here >= 0) {
        const wide = Math.min(8, 0.8 * unit);
        row[here] += letters ? letterPath(here, x(i) + (unit - wide) / 2, foot + 6, wide, 10) :
          `M${px(x(i))} ${foot + 5}h${px(unit)}v8h${px(-unit)}Z`;
      } else if (letters) {
        unknown += label(x(i) + unit / 2, foot + 16, track.sequence[i], theme);
      }
      if (!hasValue(track, i)) return;
      const order = [0, 1, 2, 3].sort((a, b) => letters ? track.lnp[4 * i + a] - track.lnp[4 * i + b] :
        (b === here) - (a === here));
      let y = foot;
      for (const k of order) {
        const high = total(i) * probability(track, i, k);
        y -= high;
        if (high < 0.4) continue;
        const path = letters ? letterPath(k, x(i) + gap, y, unit - 2 * gap, high) :
          `M${px(x(i))} ${px(y)}h${px(unit)}v${px(high)}h${px(-unit)}Z`;
        if (k === here) actual[k] += path; else others[k] += path;
      }
    });
  }

  let body = `<path fill="none" stroke="${theme.grid}" d="`;
  for (const part of [0, 0.5, 1]) body += `M${left} ${px(foot - part * full)}H${right}`;
  body += '"/>';
  for (const part of [0, 0.5, 1]) body += label(left - 6, foot - part * full + 4, String(Number((part * most).toPrecision(3))), theme, "end");
  const clip = `<svg x="${left}" y="0" width="${right - left}" height="${height}" ` +
      `viewBox="${left} 0 ${right - left} ${height}">`;   // an inner svg cuts off what lies outside of it
  const lines = marks.map((m) => `M${px(x(m.start - 1))} ${top - 7}H${px(x(m.end))}v4H${px(x(m.start - 1))}Z`).join("");
  body += clip + pathOf(lines, theme.mark) + pathOf(means, theme.line, ' fill-opacity="0.75"');
  for (let k = 0; k < 4; ++k) {
    const colour = theme.letters[k];
    body += pathOf(others[k], colour, ` fill-opacity="${theme.pale}" fill-rule="evenodd"`) +
        pathOf(actual[k], colour, ' fill-rule="evenodd"') + pathOf(row[k], colour, ' fill-rule="evenodd"');
  }
  body += unknown + "</svg>" + positionAxis(track, view, width, height - LOGO.axis, theme);
  return svgOf(width, height, theme, body, title);
}

/// What the heights mean at this zoom, in words.
export function logoCaption(view, width, scale) {
  const {step, unit} = layout(view, width);
  const unitName = scale === "bits" ? "information in bits" : "probability";
  if (step > 1) return `Bars: ${unitName} of the actual base, mean of ${step} bases. Zoom in for letters.`;
  if (unit < LETTER_WIDTH) return `Height: ${unitName}. Full colour: the actual base. Zoom in for letters.`;
  return `Height: ${unitName}. Full colour: the actual base, also written below. Pale: the other letters.`;
}
