// The whole sequence in a strip: the mean log-likelihood of the bases, and what lies where.

import {label, layout, logLikelihood, pathOf, px, svgOf} from "./figure.js";

const GUESS = Math.log(1 / 4);           // what guessing would reach

/// Means of ln P of the actual bases over windows of `size` bases: [{at, mean}], at in bases from 0.
export function overviewMeans(track, size) {
  const result = [];
  const step = Math.max(1, Math.floor(size / 2));
  for (let start = 0; start < track.length; start += step) {
    const end = Math.min(track.length, start + size);
    let sum = 0;
    let count = 0;
    for (let i = start; i < end; ++i) {
      const v = logLikelihood(track, i);
      if (Number.isFinite(v)) { sum += v; ++count; }
    }
    if (count > 0) result.push({at: (start + end) / 2, mean: sum / count});
    if (end === track.length) break;
  }
  return result;
}

/// The width of a window that gives a calm line: a 60th of the sequence, at least 12 bases.
export function overviewWindow(track) { return Math.max(12, Math.round(track.length / 60)); }

/// The strip as the text of an SVG. Options: width, height; theme; marks, [{start, end, name}] with bases
/// counted from 1, both ends included.
export function overviewSvg(track, {width, height = 74, theme, marks = []}) {
  const whole = {start: 0, end: track.length};
  const {left, right, x} = layout(whole, width);
  const top = marks.length ? 20 : 6;
  const foot = height - 6;
  const means = overviewMeans(track, overviewWindow(track));
  const lowest = Math.min(-2, ...means.map((m) => m.mean));
  const y = (value) => top + value / lowest * (foot - top);
  let line = "";
  for (const {at, mean} of means) line += `${line ? "L" : "M"}${px(x(at))} ${px(y(mean))}`;
  let body = "";
  if (means.length > 0) {
    const from = px(x(means[0].at));
    const to = px(x(means[means.length - 1].at));
    body += pathOf(`${line}L${to} ${foot}L${from} ${foot}Z`, theme.area) +
        `<path fill="none" stroke="${theme.line}" stroke-width="1.5" stroke-linejoin="round" d="${line}"/>`;
  }
  body += `<path fill="none" stroke="${theme.soft}" stroke-dasharray="3 3" d="M${left} ${px(y(GUESS))}H${right}"/>` +
      `<path fill="none" stroke="${theme.grid}" d="M${left} ${top}H${right}M${left} ${foot}H${right}"/>` +
      label(left - 6, top + 4, "0", theme, "end") + label(left - 6, y(GUESS) + 4, "\u22121.4", theme, "end");
  for (const mark of marks) {
    const from = x(mark.start - 1);
    const wide = Math.max(3, x(mark.end) - from);
    body += `<rect x="${px(from)}" y="${top - 4}" width="${px(wide)}" height="4" fill="${theme.mark}"/>`;
    const near = Math.min(Math.max(from + wide / 2, left + 3 * mark.name.length), right - 3 * mark.name.length);
    body += label(near, top - 8, mark.name, theme);
  }
  return svgOf(width, height, theme, body);
}

/// The strip in one sentence, for those who do not see it.
export function overviewWords(track) {
  const means = overviewMeans(track, overviewWindow(track));
  if (means.length === 0) return "No base has a value.";
  const best = means.reduce((a, b) => (b.mean > a.mean ? b : a));
  const worst = means.reduce((a, b) => (b.mean < a.mean ? b : a));
  const words = ({at, mean}) => `${mean.toFixed(2)} nats around base ${Math.round(at) + track.first - 1}`;
  return `Mean log-likelihood along the sequence: highest ${words(best)}, lowest ${words(worst)}; guessing gives \u22121.39.`;
}
