// What the page shows now, and who wants to know when that changes.

const content = JSON.parse($("content").textContent);

const state = {
  data: content.data[0].name,
  loss: content.runs[0].loss,
  focus: null, // the method in focus
  hidden: new Set(),
  rank: "epistemic",
  unit: "plain", // of regret and risk: over all points, per accepted one, or what is saved
};

const listeners = [];
const onChange = (draw) => listeners.push(draw);

/** Change the state and redraw what depends on it. */
function change(changes) {
  Object.assign(state, changes);
  if (!runsNow().length) state.loss = content.runs.find((run) => run.data === state.data).loss;
  const runs = runsNow();
  if (!runs.some((run) => run.method === state.focus && !state.hidden.has(run.method)))
    state.focus = bestFirst(runs.filter(isShown))[0]?.method ?? runs[0]?.method ?? null;
  keepingFocus(() => listeners.forEach((draw) => draw(Object.keys(changes))));
}

/** Runs of the data set and loss in view, in the order of their methods. */
const runsNow = () => content.runs.filter((run) => run.data === state.data && run.loss === state.loss);
const isShown = (run) => !state.hidden.has(run.method);
const shownRuns = () => runsNow().filter(isShown);
const drawnRuns = () => shownRuns().filter((run) => run.points);
const focused = () => drawnRuns().find((run) => run.method === state.focus) ?? drawnRuns()[0];
const cardNow = () => content.data.find((card) => card.name === state.data);

const orLast = (x) => (x === null || x === undefined ? Infinity : x);
const bestFirst = (runs) => [...runs].sort((a, b) => orLast(a.row.n_aurec) - orLast(b.row.n_aurec));

const styleOf = (method) => content.methods.find((card) => card.name === method);
const colourOf = (method) => `var(--m${styleOf(method).colour})`;
const dashOf = (method) => styleOf(method).dash;
const lineOf = ({ method }) => ({
  name: method,
  colour: colourOf(method),
  dash: dashOf(method),
});
const swatch = (method) =>
  h("span", {
    class: dashOf(method) ? "swatch again" : "swatch", // a colour that another method has too
    "aria-hidden": "true",
    style: { "--c": colourOf(method) },
  });
let block = null; // the arrays of all runs

async function unpack() {
  const text = $("arrays").textContent.trim();
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  block = await new Response(stream).arrayBuffer();
  $("arrays").remove();
}

function arrayOf([kind, offset, length]) {
  const Kind = { f4: Float32Array, f8: Float64Array }[kind];
  return new Kind(block, offset, length);
}

/** What a run's numbers are turned into when first asked for, and kept. */
function ready(run) {
  if (run.ready) return run.ready;
  const total = arrayOf(run.points.total),
    epistemic = arrayOf(run.points.epistemic);
  const points = new Points(total, epistemic);
  const aleatoricHat = arrayOf(run.points.aleatoricHat),
    epistemicHat = arrayOf(run.points.epistemicHat);
  run.ready = {
    points,
    total,
    epistemic,
    aleatoricHat,
    epistemicHat,
    aleatoric: total.map((t, i) => Math.max(t - epistemic[i], 0)),
    rules: new Rules(aleatoricHat, epistemicHat, points),
    person: run.points.person ? arrayOf(run.points.person) : null,
  };
  return run.ready;
}

/** A curve as two arrays, coverage and value. */
function curve(run, name) {
  const flat = run.curves[name] && arrayOf(run.curves[name]);
  if (!flat) return null;
  const n = flat.length / 2;
  const x = new Float64Array(n),
    y = new Float64Array(n);
  for (let i = 0; i < n; i++) [x[i], y[i]] = [flat[2 * i], flat[2 * i + 1]];
  return { x, y };
}

/** The levels of a surface: arrays of [coverage, risk, regret]. */
function levels(run, name) {
  const flat = arrayOf(run[name].points);
  let start = 0;
  return run[name].ends.map((end) => {
    const level = [];
    for (let k = start; k < end; k++) level.push([...flat.subarray(3 * k, 3 * k + 3)]);
    start = end;
    return level;
  });
}
