// Reliability diagrams: what is observed against what a method predicts, in bins.

const CALIBRATION = {
  key: "calibration",
  one: "reliability",
  all: "reliabilities",
  axes: ["mean estimated epistemic uncertainty", "mean regret"],
  what: "regret against estimated epistemic uncertainty",
  estimate: "estimate",
  observed: "regret",
};

const AGREEMENT = {
  key: "agreement",
  one: "agreement-one",
  all: "agreement-all",
  axes: ["predicted probability that two annotators agree", "observed share of pairs that agree"],
  what: "the share of pairs of annotators that agree against its prediction",
  estimate: "prediction",
  observed: "share",
};

/** The bins of a run, or null if it has no such diagram. */
function binsOf(run, { key }) {
  if (!run[key]?.bins) return null;
  const flat = arrayOf(run[key].bins),
    column = (k) => Float64Array.from({ length: flat.length / 5 }, (_, i) => flat[5 * i + k]);
  const [estimated, realised, low, high, counts] = [0, 1, 2, 3, 4].map(column);
  return { estimated, realised, low, high, counts };
}

const bandName = (run, { key }) => `${g(100 * run[key].level, 4)} % band`;

/** From 0, or below where a number is, to a little beyond the largest. */
function reach(values) {
  const high = Math.max(...values, 0);
  return { low: Math.min(...values, 0), high: high > 0 ? 1.04 * high : 1 };
}

/** Where the estimate is what is observed, as far as both axes go. */
function diagonal(x, y) {
  const ends = [Math.max(x.low, y.low), Math.min(x.high, y.high)];
  return {
    name: "calibrated",
    colour: "var(--ink-2)",
    dash: "5 4",
    width: 1.3,
    x: ends,
    y: ends,
  };
}

const reliability = (run, bins) => ({
  ...lineOf(run),
  width: run.method === focused().method ? 2.8 : 1.8,
  faint: run.method !== focused().method,
  marks: true,
  x: bins.estimated,
  y: bins.realised,
});

function tellReliability(diagram) {
  const run = focused(),
    bins = binsOf(run, diagram),
    { axes, what, estimate: predicted, observed } = diagram;
  const x = { label: axes[0], ...reach(bins.estimated) },
    y = { label: axes[1], ...reach([...bins.high, ...bins.low]) };
  const stops = Array.from(bins.estimated, (estimate, i) => ({
    x: estimate,
    y: bins.realised[i],
    head: `bin ${i + 1} of ${bins.counts.length}, ${many(bins.counts[i], "point")}`,
    rows: [
      [predicted, g(estimate, 4)],
      [observed, g(bins.realised[i], 4)],
      [bandName(run, diagram), `${g(bins.low[i], 4)} to ${g(bins.high[i], 4)}`],
    ],
  }));
  return {
    title: `Reliability diagram of ${run.method}: ${what}. ${verdict(run, bins, diagram)} Move with the arrow keys from bin to bin.`,
    x,
    y,
    series: [diagonal(x, y), reliability(run, bins)],
    band: [
      { x: bins.estimated, y: bins.low },
      { x: bins.estimated, y: bins.high },
    ],
    bandColour: colourOf(run.method),
    stops,
  };
}

function tellAllReliabilities(diagram) {
  const known = calibrated(diagram),
    { axes, key } = diagram;
  const x = { label: axes[0], ...reach(known.flatMap(([, bins]) => [...bins.estimated])) },
    y = { label: axes[1], ...reach(known.flatMap(([, bins]) => [...bins.realised])) };
  const lines = known.map(([run, bins]) => reliability(run, bins));
  const gaps = known.map(([run]) => `${run.method} ${g(run[key].gap, 3)}`);
  return {
    title: `Reliability diagrams of ${many(known.length, "method")}. Mean distance from the diagonal: ${gaps.join(", ")}.`,
    x,
    y,
    series: [diagonal(x, y), ...lines.sort((a, b) => b.faint - a.faint)],
  };
}

/** The shown runs that have a diagram, with their bins. */
const calibrated = (diagram) =>
  drawnRuns()
    .map((run) => [run, binsOf(run, diagram)])
    .filter(([, bins]) => bins);

/** How the estimates compare with what is observed, in a sentence or two. */
function verdict(run, { estimated, low, high, counts }, diagram) {
  const { gap, estimate, observed } = run[diagram.key];
  const inside = estimated.filter((e, i) => low[i] <= e && e <= high[i]).length;
  const few = Math.min(...counts),
    most = Math.max(...counts);
  const sizes = few === most ? count(few) : `${count(few)} to ${count(most)}`;
  return `The mean ${diagram.estimate} is ${g(estimate, 3)} and the mean ${diagram.observed} ${g(observed, 3)}; over ${many(counts.length, "bin")} of ${sizes} ${most === 1 ? "point" : "points"} they differ by ${g(gap, 3)} on average. The ${bandName(run, diagram)} contains the ${diagram.estimate} in ${inside} of ${many(counts.length, "bin")}.`;
}

function binTable(run, bins, diagram) {
  const means = [diagram.estimate, diagram.observed].map((word) => `mean ${word}`);
  const titles = ["bin", "points", ...means, bandName(run, diagram)];
  return [
    h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))),
    h(
      "tbody",
      {},
      ...Array.from(bins.estimated, (estimate, i) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, `${i + 1}`),
          h("td", {}, count(bins.counts[i])),
          h("td", {}, g(estimate, 4)),
          h("td", {}, g(bins.realised[i], 4)),
          h("td", {}, `${g(bins.low[i], 4)} to ${g(bins.high[i], 4)}`),
        ),
      ),
    ),
  ];
}

function makeCalibration(diagram) {
  const { key, one, all } = diagram;
  const height = (width) => clamp(width * 0.72, 230, 340);
  const drawOne = chart($(one), () => tellReliability(diagram), { height, left: 62 });
  const drawAll = chart($(all), () => tellAllReliabilities(diagram), {
    height,
    left: 62,
    cursor: false,
  });
  return () => {
    const run = focused(),
      bins = run && binsOf(run, diagram),
      n = calibrated(diagram).length;
    $(key).hidden = !run?.[key];
    if (!run?.[key]) return;
    $(one).hidden = $(`${key}-bins`).hidden = !bins;
    $(`panel-${all}`).hidden = !n || (n === 1 && Boolean(bins));
    $(one).previousElementSibling.textContent = `In focus: ${isolated(run.method)}`;
    $(`${one}-missing`).textContent = bins ? "" : `Not shown: ${run[key].missing}.`;
    if (bins) $(`${key}-table`).replaceChildren(...binTable(run, bins, diagram));
    drawOne();
    drawAll();
    const without = drawnRuns().filter((other) => other[key] && !other[key].bins && other !== run);
    $(`${key}-note`).textContent = [
      bins && verdict(run, bins, diagram),
      bins && `Its ends are quantiles of the mean ${diagram.observed} when ${run[key].resampled} are resampled.`,
      ...without.map((other) => `${isolated(other.method)} is not shown: ${other[key].missing}.`),
    ]
      .filter(Boolean)
      .join(" ");
  };
}
