// Talking to the server. Every failure becomes a ServerError, with words for people.

let apiKey = "";                         // in memory only: it is gone when the page is closed

/// The key that is sent with all further requests.
export function setApiKey(key) { apiKey = key.trim(); }

/// What went wrong. `message` says it, `advice` says what to do; `status` is 0 if there was no answer.
export class ServerError extends Error {
  constructor(status, message, advice) {
    super(message);
    this.status = status;
    this.advice = advice;
  }
}

const WORDS = {
  0: ["The server cannot be reached.", "Is carbon serve still running, and on this address? Then try again."],
  400: ["The server did not accept the request.", "Change the sequence or the settings as it says, and try again."],
  401: ["This server asks for an API key.", "Enter the key above. Whoever runs the server has it."],
  403: ["The server refused the request.", "Ask whoever runs the server."],
  404: ["The server does not know this request.", "Page and server may be of different versions: reload the page."],
  413: ["The sequence is too long for this server.", "Use a shorter piece, or carbon on the command line."],
  429: ["The server has more to do than it can take.", "Wait a moment, then try again."],
  500: ["The server failed.", "Try again; its log says more."],
  503: ["The server is not ready: it starts, stops or is full.", "Wait a moment, then try again."],
};

function serverError(status, detail = "", wait = "") {
  const [what, advice] = WORDS[status] || WORDS[status >= 500 ? 500 : 400];
  const message = detail && status !== 401 ? `${what} It says: \u201c${detail}\u201d.` : what;
  return new ServerError(status, message, wait ? `Wait ${wait} seconds, then try again.` : advice);
}

/// Statuses of errors within a stream, whose own status was 200.
const TYPES = {invalid_request_error: 400, authentication_error: 401, not_found_error: 404, rate_limit_error: 429,
  overloaded_error: 503};

// Addresses are relative to the page, which a proxy may serve below a path of its own.
async function send(path, body, signal) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  let answer;
  try {
    answer = await fetch(path, {method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw serverError(0);
  }
  if (answer.ok) return answer;
  const seconds = answer.headers.get("Retry-After");
  const detail = await answer.json().then((json) => json.error.message, () => "");
  throw serverError(answer.status, detail, /^\d+$/.test(seconds) ? seconds : "");
}

async function json(path, body, signal) {
  const answer = await send(path, body, signal);
  try {
    return await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "The answer of the server broke off or is not JSON.", "Try again.");
  }
}

/// The models of the server: [{id, max_bases, ...}].
export async function listModels() { return (await json("v1/models")).data; }

/// The bases of {sequence}, or of {region} of the server's FASTA, and ln P of the four letters at each:
/// {sequence, logp, chrom, pos}, where logp has [A, C, G, T] or null for each base. `chrom` and `pos` are those of
/// a region.
export async function scan(what, {strand, frames}, signal) {
  const answer = await json("v1/dna/scan", {...what, strand, frames, level: "marginal"}, signal);
  const {sequence = what.sequence, letters, logp, chrom, pos} = answer;
  if (letters !== "ACGT" || !Array.isArray(logp) || logp.length !== sequence?.length) {
    throw new ServerError(0, "The answer of the server does not fit the sequence.",
        "Page and server may be of different versions: reload the page.");
  }
  return {sequence, logp, chrom, pos};
}

/// The scores of changes of a sequence, or of the server's FASTA if it is undefined: [{pos, ref, alt, score, flag}],
/// in the order of `variants`.
export async function scoreVariants(sequence, variants, signal) {
  const {results} = await json("v1/dna/variants", {sequence, variants}, signal);
  if (!Array.isArray(results) || results.length !== variants.length) {
    throw new ServerError(0, "The answer of the server does not fit the variants.",
        "Page and server may be of different versions: reload the page.");
  }
  return results;
}

/// Continues a prompt; calls onBases(bases) for each piece as it comes, and returns what the server says at
/// the end: {logp, probabilities, finish_reason}.
export async function generate({prompt, length, seed, temperature, greedy, gc, avoid}, onBases, signal) {
  const body = {prompt, length, n: 1, seed, sampler: "kmer", probabilities: true, stream: true};
  if (greedy) body.greedy = true; else body.temperature = temperature;
  if (gc) body.gc = gc;
  if (avoid.length > 0) body.avoid = avoid;
  const answer = await send("v1/dna/generate", body, signal);
  let last = null;
  for await (const data of events(answer)) {
    if (data === "[DONE]") return last;
    const event = JSON.parse(data);
    if (event.error) throw serverError(event.error.status || TYPES[event.error.type] || 500, event.error.message);
    if (event.bases) onBases(event.bases);
    if (event.finish_reason) last = event;
  }
  throw new ServerError(0, "The stream of new bases broke off.", "What has come is kept. Try again for the rest.");
}

/// The data of server-sent events, one after the other.
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      text += value;
      const lines = text.split(/\r?\n/);
      text = lines.pop();                // an event may come in pieces
      for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    }
  } catch (error) {
    if (error.name !== "AbortError") throw new ServerError(0, "The stream of new bases broke off.", "What has come is kept. Try again.");
    throw error;
  } finally {
    reader.cancel().catch(() => {});     // also when the caller wants no more
  }
}
