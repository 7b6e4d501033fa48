// What all figures share: the data they draw, the colours, and where a base lies on the page.
//
// Figures are made by pure functions: data and a view go in, the text of an SVG comes out. They touch neither
// the document nor the network, so the same files serve the page of the server, a report, and a test in node.
//
//   track   what makeTrack() returns: the bases of a sequence and the probabilities of the four letters
//   view    {start, end}: the part that is shown, in bases from 0, end not included; fractions are welcome
//   theme   one of THEMES
//
// For whoever puts these files into one script: imports stand alone on a line, and no name is used twice.

export const LETTERS = "ACGT";

// Letters keep apart for colour-blind eyes by hue and by lightness. All have a contrast of 3:1 or more with
// their paper, text has 4.5:1 or more. `less` and `more` are the two arms of the map of SNVs, from its middle
// outwards: orange and blue. `pale` is the opacity of letters that are not the actual base.
export const THEMES = {
  light: {
    paper: "#ffffff", ink: "#1c2127", soft: "#59636e", grid: "#d9dee3", line: "#0b5cad", area: "#cfe1f4",
    mark: "#6b4fa0", pale: 0.36, reference: "#c3c9d0", nothing: "#eef0f2", middle: "#f7f7f5",
    letters: ["#0a8754", "#1463c4", "#c98500", "#cf3a12"],
    less: ["#fcd9b0", "#f2a24e", "#c7640c", "#7a3a05"],
    more: ["#cfe3f5", "#84b9e3", "#2f78bd", "#0c3c74"],
  },
  dark: {
    paper: "#15191e", ink: "#e8ebee", soft: "#a3adb8", grid: "#343b44", line: "#7db9ff", area: "#1f3a57",
    mark: "#b9a2ea", pale: 0.48, reference: "#59636e", nothing: "#21262d", middle: "#1f242a",
    letters: ["#3ccf91", "#6eb0ff", "#f2b632", "#ff7a55"],
    less: ["#57340f", "#a85f14", "#eb9a3c", "#ffdcae"],
    more: ["#173a5e", "#2a6cae", "#67aeec", "#cfe7ff"],
  },
};

/// The data of a figure. `logp` has one entry for each base of `sequence`: the natural logarithms of the
/// probabilities of A, C, G and T, or null where the model gives none. `lnp` has them as they are. The
/// probabilities of means of log-probabilities (over strands or frames) do not add up to one; where they are
/// drawn or printed, each base is scaled to do so. `first` is the position of the first base, which axes show.
export function makeTrack(sequence, logp, first = 1) {
  const length = sequence.length;
  const base = new Int8Array(length);              // 0 to 3, or -1 for another letter
  const lnp = new Float64Array(4 * length).fill(NaN);
  const total = new Float64Array(length);          // ln of the sum of the four probabilities
  for (let i = 0; i < length; ++i) {
    base[i] = LETTERS.indexOf(sequence[i].toUpperCase());
    const row = logp[i];
    if (!row) continue;
    const values = row.map((v) => (v === null ? -Infinity : v));
    total[i] = Math.log(values.reduce((sum, v) => sum + Math.exp(v), 0));
    for (let k = 0; k < 4; ++k) lnp[4 * i + k] = values[k];
  }
  return {sequence, length, base, lnp, total, first};
}

/// Whether base i has probabilities.
export function hasValue(track, i) { return !Number.isNaN(track.lnp[4 * i]); }

/// The probability of letter k at base i.
export function probability(track, i, k) { return Math.exp(track.lnp[4 * i + k] - track.total[i]); }

/// ln P of the base that is there; NaN if it has none.
export function logLikelihood(track, i) {
  return track.base[i] < 0 ? NaN : track.lnp[4 * i + track.base[i]];
}

/// ln P(letter k) - ln P(the base that is there), in nats; NaN if there is no such value.
export function logRatio(track, i, k) { return track.lnp[4 * i + k] - logLikelihood(track, i); }

/// The entropy of the four probabilities, in nats.
export function entropy(track, i) {
  let sum = 0;
  for (let k = 0; k < 4; ++k) {
    const p = probability(track, i, k);
    if (p > 0) sum -= p * Math.log(p);
  }
  return sum;
}

/// How much the four probabilities say, from 0 (all alike) to 2 bits (certain).
export function information(track, i) { return Math.max(0, 2 - entropy(track, i) / Math.LN2); }

/// Where bases lie in a figure of this width. All figures have the same margins, so that they line up.
export function layout(view, width) {
  const left = width < 520 ? 32 : 46;
  const right = 12;
  const inner = Math.max(1, width - left - right);
  const unit = inner / (view.end - view.start);
  return {
    left, right: width - right, inner, unit,
    first: Math.max(0, Math.floor(view.start)),
    x: (position) => left + (position - view.start) * unit,
    position: (x) => view.start + (x - left) / unit,
    step: Math.max(1, Math.ceil(1 / unit)),       // bases in a column that is at least one pixel wide
  };
}

/// Calls visit(i, j) for the columns in view: bases i to j - 1 share a column. Columns lie on a grid of the
/// sequence, so that a picture that is moved does not flicker.
export function forColumns(track, view, step, visit) {
  const end = Math.min(track.length, Math.ceil(view.end));
  for (let i = Math.max(0, Math.floor(view.start / step) * step); i < end; i += step) {
    visit(i, Math.min(i + step, track.length));
  }
}

/// A number for SVG: a tenth of a pixel is enough.
export function px(value) { return String(Math.round(value * 10) / 10); }

/// Text for an element or an attribute. Control characters, which XML does not allow, become U+FFFD.
export function escapeText(text) {
  const names = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};
  return text.replace(/[&<>"']/g, (c) => names[c]).replace(/[\0-\x08\x0b-\x1f\x7f\ufffe\uffff]/g, "\ufffd");
}

/// <path> for path data, nothing for none.
export function pathOf(data, fill, more = "") { return data ? `<path fill="${fill}"${more} d="${data}"/>` : ""; }

/// Text; `anchor` is start, middle or end.
export function label(x, y, text, theme, anchor = "middle", more = "") {
  return `<text x="${px(x)}" y="${px(y)}" fill="${theme.soft}" text-anchor="${anchor}"${more}>` +
      `${escapeText(text)}</text>`;
}

/// Positions below a figure, counted from the track's first.
export function positionAxis(track, view, width, y, theme) {
  const {left, right, x, unit} = layout(view, width);
  const before = track.first - 1;                  // positions that lie before the track
  const last = before + track.length;
  const apart = Math.max(60, 9 * String(last).length) / unit;   // bases between two numbers
  const power = 10 ** Math.floor(Math.log10(apart));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= apart));
  let ticks = "";
  let text = "";
  for (let p = Math.max(step, Math.ceil((view.start + before) / step) * step); p <= last; p += step) {
    const at = x(p - before - 0.5);                // the middle of the base
    if (at > right) break;
    if (at < left) continue;
    ticks += `M${px(at)} ${y}v5`;
    const number = p.toLocaleString("en");
    const room = 3.4 * number.length;              // half of what the number takes
    text += label(Math.min(at, width - room), y + 17, number, theme);
  }
  return `<path fill="none" stroke="${theme.grid}" d="M${left} ${y}H${right}${ticks}"/>${text}`;
}

/// A complete SVG, whose fonts other programs have, too. With `title`, one that stands alone, as a file: with a
/// background, and a name for those who cannot see it.
export function svgOf(width, height, theme, body, title = "") {
  const alone = title === "" ? ' aria-hidden="true"' : ' role="img"';
  const head = title === "" ? "" :
    `<title>${escapeText(title)}</title><rect width="${width}" height="${height}" fill="${theme.paper}"/>` +
    `<text x="12" y="16" font-size="13" fill="${theme.ink}">${escapeText(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="11"${alone}>` +
      `${head}${body}</svg>`;
}
