// Regret calibration: realised regret against estimated epistemic uncertainty, in bins.

/** The bins of a run, or null if its estimates have no unit. */
function binsOf(run) {
  if (!run.calibration?.bins) return null;
  const flat = arrayOf(run.calibration.bins),
    column = (k) => Float64Array.from({ length: flat.length / 5 }, (_, i) => flat[5 * i + k]);
  const [estimated, realised, low, high, counts] = [0, 1, 2, 3, 4].map(column);
  return { estimated, realised, low, high, counts };
}

const bandName = (run) => `${g(100 * run.calibration.level, 4)} % band`;

/** From 0, or below where a number is, to a little beyond the largest. */
function reach(values) {
  const high = Math.max(...values, 0);
  return { low: Math.min(...values, 0), high: high > 0 ? 1.04 * high : 1 };
}

/** Where the estimate is the regret, as far as both axes go. */
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
  name: run.method,
  colour: colourOf(run.method),
  dash: dashOf(run.method),
  width: run.method === focused().method ? 2.8 : 1.8,
  faint: run.method !== focused().method,
  marks: true,
  x: bins.estimated,
  y: bins.realised,
});

const AXES = ["mean estimated epistemic uncertainty", "mean regret"];

function tellReliability() {
  const run = focused(),
    bins = binsOf(run);
  const x = { label: AXES[0], ...reach(bins.estimated) },
    y = { label: AXES[1], ...reach([...bins.high, ...bins.low]) };
  const stops = Array.from(bins.estimated, (estimate, i) => ({
    x: estimate,
    y: bins.realised[i],
    head: `bin ${i + 1} of ${bins.counts.length}, ${many(bins.counts[i], "point")}`,
    rows: [
      ["estimate", g(estimate, 4)],
      ["regret", g(bins.realised[i], 4)],
      [bandName(run), `${g(bins.low[i], 4)} to ${g(bins.high[i], 4)}`],
    ],
  }));
  return {
    title: `Reliability diagram of ${run.method}: regret against estimated epistemic uncertainty. ${verdict(run, bins)} Move with the arrow keys from bin to bin.`,
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

function tellAllReliabilities() {
  const known = calibrated();
  const x = { label: AXES[0], ...reach(known.flatMap(([, bins]) => [...bins.estimated])) },
    y = { label: AXES[1], ...reach(known.flatMap(([, bins]) => [...bins.realised])) };
  const lines = known.map(([run, bins]) => reliability(run, bins));
  const gaps = known.map(([run]) => `${run.method} ${g(run.calibration.gap, 3)}`);
  return {
    title: `Reliability diagrams of ${many(known.length, "method")}. Mean distance from the diagonal: ${gaps.join(", ")}.`,
    x,
    y,
    series: [diagonal(x, y), ...lines.sort((a, b) => b.faint - a.faint)],
  };
}

/** The shown runs whose estimates have a unit, with their bins. */
const calibrated = () =>
  drawnRuns()
    .map((run) => [run, binsOf(run)])
    .filter(([, bins]) => bins);

/** How the estimates compare with the regret, in a sentence or two. */
function verdict(run, { estimated, low, high, counts }) {
  const { gap, estimate, regret } = run.calibration;
  const inside = estimated.filter((e, i) => low[i] <= e && e <= high[i]).length;
  const few = Math.min(...counts),
    most = Math.max(...counts);
  const sizes = few === most ? count(few) : `${count(few)} to ${count(most)}`;
  return `The mean estimate is ${g(estimate, 3)} and the mean regret ${g(regret, 3)}; over ${many(counts.length, "bin")} of ${sizes} ${most === 1 ? "point" : "points"} they differ by ${g(gap, 3)} on average. The ${bandName(run)} contains the estimate in ${inside} of ${many(counts.length, "bin")}.`;
}

function binTable(run, bins) {
  const titles = ["bin", "points", "mean estimate", "mean regret", bandName(run)];
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

function makeCalibration() {
  const height = (width) => clamp(width * 0.72, 230, 340);
  const drawOne = chart($("reliability"), tellReliability, { height, left: 62 });
  const drawAll = chart($("reliabilities"), tellAllReliabilities, {
    height,
    left: 62,
    cursor: false,
  });
  return () => {
    const run = focused(),
      bins = run && binsOf(run),
      n = calibrated().length;
    $("calibration").hidden = !run?.calibration;
    if (!run?.calibration) return;
    $("reliability").hidden = $("bins").hidden = !bins;
    $("panel-reliabilities").hidden = !n || (n === 1 && Boolean(bins));
    $("reliability").previousElementSibling.textContent = `In focus: ${isolated(run.method)}`;
    $("reliability-missing").textContent = bins ? "" : `Not shown: ${run.calibration.missing}.`;
    if (bins) $("bin-table").replaceChildren(...binTable(run, bins));
    drawOne();
    drawAll();
    const without = drawnRuns().filter((other) => !other.calibration?.bins && other !== run);
    $("calibration-note").textContent = [
      bins && verdict(run, bins),
      bins && `Its ends are quantiles of the mean regret when ${run.calibration.resampled} are resampled.`,
      ...without.map((other) => `${isolated(other.method)} is not shown: ${other.calibration.missing}.`),
    ]
      .filter(Boolean)
      .join(" ");
  };
}
