// Coverage curves: regret, risk and accuracy of the accepted.

/** A curve per accepted point: the value divided by the coverage, from its first corner on. */
function perAccepted({ x, y }) {
  const from = x[0] === 0 ? 1 : 0;
  const xs = Array.from(x.subarray(from)),
    ys = Array.from(y.subarray(from), (v, i) => v / xs[i]);
  return { x: Float64Array.from([0, ...xs]), y: Float64Array.from([ys[0], ...ys]) };
}

/** Straight between corners, the quotient is not: put some points in between. */
function refined({ x, y }) {
  const xs = [],
    ys = [];
  for (let i = 0; i < x.length; i++) {
    const parts = i ? Math.ceil((x[i] - x[i - 1]) * 100) : 1;
    for (let k = 1; k <= parts; k++) {
      const t = k / parts;
      xs.push(i ? x[i - 1] + t * (x[i] - x[i - 1]) : x[0]);
      ys.push(i ? y[i - 1] + t * (y[i] - y[i - 1]) : y[0]);
    }
  }
  return { x: Float64Array.from(xs), y: Float64Array.from(ys) };
}

const accuracy = (wrong) => {
  const { x, y } = perAccepted(refined(wrong));
  return { x, y: y.map((v) => 1 - v) };
};

function curvePanel(id, kind, title) {
  const shape = (line) => {
    if (kind === "wrong") return accuracy(line);
    if (state.unit === "accepted") return perAccepted(refined(line));
    if (state.unit === "saved")
      return { x: line.x, y: line.y.map((v, i) => line.x[i] * line.y.at(-1) - v) };
    return line;
  };
  return chart(
    $(id),
    () => {
      const runs = drawnRuns().filter((run) => run.curves[`${kind}_${state.rank}`]);
      const series = runs.map((run) => ({
        ...lineOf(run),
        width: run.method === focused().method ? 2.8 : 1.8,
        ...shape(curve(run, `${kind}_${state.rank}`)),
      }));
      const run = runs.find((r) => r.method === focused()?.method);
      let band = null;
      if (run) {
        const oracle = shape(curve(run, `${kind}_oracle`));
        const full = curve(run, `${kind}_oracle`).y.at(-1);
        const random = shape({ x: Float64Array.of(0, 1), y: Float64Array.of(0, full) });
        band = [oracle, random];
        series.unshift(
          { name: "perfect ranking", colour: "var(--ink-2)", dash: "1 4", width: 1.6, ...oracle },
          { name: "random ranking", colour: "var(--ink-2)", dash: "5 4", width: 1.3, ...random },
        );
      }
      const tops = series.flatMap((line) => [...line.y]);
      const accurate = kind === "wrong";
      const least = Math.min(...tops),
        most = Math.max(...tops),
        high = most > 0 ? most : least < 0 ? 0 : 1;
      const low = accurate
        ? least < 1
          ? Math.max(0, least - 0.05 * (1 - least))
          : 0
        : state.unit === "saved"
          ? Math.min(least * 1.05, 0)
          : 0;
      return {
        title: `${title}. Move with the arrow keys.`,
        x: { label: "coverage", low: 0, high: 1 },
        y: { label: "", low, high: accurate ? 1 : high * 1.03 },
        series,
        band,
      };
    },
    { height: (width) => clamp(width * 0.72, 230, 320) },
  );
}

function makeCurves() {
  const draws = [
    curvePanel("curve-regret", "regret", "Regret against coverage"),
    curvePanel("curve-risk", "risk", "Risk against coverage"),
    curvePanel("curve-accuracy", "wrong", "Accuracy against coverage"),
  ];
  for (const [name, label] of [
    ["epistemic", "epistemic uncertainty"],
    ["total", "total uncertainty"],
  ])
    $("rank-by").append(h("option", { value: name }, label));
  $("rank-by").addEventListener("change", (event) => change({ rank: event.target.value }));
  $("unit").addEventListener("change", (event) => change({ unit: event.target.value }));
  return () => {
    draws.forEach((draw) => draw());
    const word = {
      plain: "",
      accepted: " per accepted point",
      saved: " saved against a random ranking",
    }[state.unit];
    for (const name of ["Regret", "Risk"])
      $(`curve-${name.toLowerCase()}`).previousElementSibling.textContent = name + word;
    const known = drawnRuns().some((run) => run.curves.wrong_epistemic);
    $("panel-accuracy").hidden = !known;
    const focus = focused();
    $("curves-note").textContent = focus
      ? `The shaded band lies between a random ranking and a perfect ranking of ${isolated(focus.method)}'s predictions, the method in focus. Curves are drawn at no more than ${2 * content.corners} of their corners; areas in the table are exact.`
      : "";
  };
}
