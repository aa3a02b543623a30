// The optimal and the achievable surface: cut at a coverage, and whole, to be turned by hand.

const view = { yaw: -0.75, pitch: 0.38, level: 32, spread: false };

function makeSurfaces() {
  const drawSlice = chart($("slice"), tellSlice, {
    height: (w) => clamp(w * 0.8, 260, 400),
    cursor: false,
    left: 68,
  });
  const canvas = $("surface");
  const host = canvas.parentElement;
  const drawSurface = oncePerFrame(() => drawRibbons(canvas, host));
  whenResized(host, drawSurface);

  $("slice-at").addEventListener("input", (event) => {
    view.level = Number(event.target.value);
    draw();
  });
  $("spread").addEventListener("change", (event) => {
    view.spread = event.target.checked;
    drawSurface();
  });
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    from = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    turnView((event.clientX - from[0]) * 0.01, (event.clientY - from[1]) * 0.01);
    from = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => (from = null));
  canvas.addEventListener("keydown", (event) => {
    const moves = {
      ArrowLeft: [-0.08, 0],
      ArrowRight: [0.08, 0],
      ArrowUp: [0, 0.08],
      ArrowDown: [0, -0.08],
    };
    if (!(event.key in moves)) return;
    turnView(...moves[event.key]);
    event.preventDefault();
  });
  const views = {
    "view-start": [-0.75, 0.38],
    "view-regret": [0, 0],
    "view-risk": [0, Math.PI / 2],
    "view-slice": [-Math.PI / 2, 0],
  };
  for (const [id, [yaw, pitch]] of Object.entries(views))
    $(id).addEventListener("click", () => {
      Object.assign(view, { yaw, pitch });
      drawSurface();
    });

  function turnView(yaw, pitch) {
    view.yaw += yaw;
    view.pitch = clamp(view.pitch + pitch, -0.2, Math.PI / 2);
    drawSurface();
  }

  function draw() {
    const run = focused();
    $("surfaces").hidden = !run;
    if (!run) return;
    const coverage = levels(run, "optimal")[view.level][0][0];
    $("slice-value").textContent = g(coverage, 3);
    $("slice-at").setAttribute("aria-valuetext", `coverage ${g(coverage, 3)}`);
    canvas.setAttribute(
      "aria-label",
      `Optimal and achievable surface of ${run.method} over coverage, risk and regret; turn with the arrow keys. ${sliceInWords(run)}`,
    );
    drawSlice();
    drawSurface();
  }
  return draw;
}

function sliceInWords(run) {
  const [best, ours] = ["optimal", "achievable"].map((name) => levels(run, name)[view.level]);
  const least = (level, j) => g(Math.min(...level.map((p) => p[j])), 3);
  return `At coverage ${g(best[0][0], 3)} the least risk is ${least(best, 1)}, and ${least(ours, 1)} with the method's scores; the least regret ${least(best, 2)}, and ${least(ours, 2)}.`;
}

function tellSlice() {
  const focus = focused(),
    runs = drawnRuns();
  const all = { series: [], points: [] };
  const columns = (level) => ({
    x: Float64Array.from(level, (p) => p[2]),
    y: Float64Array.from(level, (p) => p[1]),
  });
  for (const run of [...runs.filter((r) => r !== focus), focus]) {
    const level = levels(run, "achievable")[view.level];
    all.series.push({
      ...lineOf(run),
      width: run === focus ? 2.2 : 1.2,
      faint: run !== focus,
      marks: true,
      label: run === focus ? shorten(run.method, 24) : null,
      ...columns(level),
    });
  }
  const best = levels(focus, "optimal")[view.level];
  all.series.push({
    name: "optimal",
    colour: "var(--ink)",
    width: 3.2,
    label: "optimal",
    ...columns(best),
    marks: best.length < 3 || best[0][2] === best.at(-1)[2],
  });
  const coverage = best[0][0];
  const lots = {
    x: coverage * focus.all.regret,
    y: coverage * focus.all.risk,
    colour: "var(--ink-2)",
    label: "random ranking",
  };
  all.points.push(lots);
  const xs = all.series.flatMap((s) => [...s.x]).concat(lots.x),
    ys = all.series.flatMap((s) => [...s.y]).concat(lots.y);
  const padded = (values, share) => {
    const [low, high] = [Math.min(...values), Math.max(...values) || 1];
    const span = isOne(low, high) ? high : high - low;
    return { low: Math.max(0, low - share * span), high: high + 0.08 * span };
  };
  return {
    title: `Risk against regret at coverage ${g(coverage, 3)}. ${sliceInWords(focus)}`,
    x: { label: "regret of accepted points", ...padded(xs, 0.28) },
    y: { label: "risk of accepted points", ...padded(ys, 0.12) },
    ...all,
  };
}
