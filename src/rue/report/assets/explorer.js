// The deployment explorer: budgets in, the best rule out, for every method at once.

const LIMITS = {
  risk: { key: "riskMax", box: "risk-on", range: "risk-range", number: "risk-number" },
  regret: { key: "regretMax", box: "regret-on", range: "regret-range", number: "regret-number" },
  coverage: {
    key: "coverageMin",
    box: "coverage-on",
    range: "coverage-range",
    number: "coverage-number",
  },
};
const STEPS_OF_A_SLIDER = 1000;

const explorer = { top: { risk: 1, regret: 1, coverage: 1 }, found: new Map(), lastStep: 0 };

const objectiveNow = () => document.querySelector('input[name="objective"]:checked').value;

/** The value of a slider's step, in three digits; the last one is no less than the top. */
function valueAt(step, top) {
  const value = Number(((top * step) / STEPS_OF_A_SLIDER).toPrecision(3));
  const short = step === STEPS_OF_A_SLIDER && value < top;
  return short ? Number((1.005 * top).toPrecision(3)) : value;
}

/** The problem that the controls state. */
function problemNow() {
  const problem = { objective: objectiveNow() };
  for (const { key, box, number } of Object.values(LIMITS)) {
    const value = $(number).valueAsNumber;
    const most = key === "coverageMin" ? 1 : Infinity;
    problem[key] = $(box).checked && Number.isFinite(value) ? clamp(value, 0, most) : null;
  }
  return problem;
}

/** Solve the problem for every method: the optimum, and what its own scores attain. */
function solveAll(problem) {
  const start = performance.now();
  explorer.found.clear();
  for (const run of drawnRuns()) {
    const { points, rules } = ready(run);
    const found = { optimum: null, own: undefined, why: "" };
    try {
      found.optimum = optimalSelector(points, problem);
    } catch (error) {
      found.why = error.message;
    }
    const stated = problem.objective === "coverage" || problem.coverageMin !== null;
    if (rules.ranked.length === rules.weights.length)
      found.own = stated ? rules.best(problem) : null;
    explorer.found.set(run.method, found);
  }
  explorer.lastStep = performance.now() - start;
}

function makeExplorer() {
  const drawScatter = makeScatter(),
    drawPoints = makePoints();
  const step = oncePerFrame(update);
  for (const [name, limit] of Object.entries(LIMITS)) {
    const set = (value) => {
      $(limit.number).value = String(value);
      $(limit.box).checked = true;
      step();
    };
    $(limit.range).addEventListener("input", (event) =>
      set(valueAt(event.target.valueAsNumber, explorer.top[name])),
    );
    $(limit.number).addEventListener("input", () => {
      $(limit.box).checked = true;
      place(name);
      step();
    });
    $(limit.number).addEventListener("change", () => {
      const value = problemNow()[limit.key];
      if (value !== null) $(limit.number).value = String(value); // as it is understood
    });
    $(limit.box).addEventListener("change", step);
  }
  let spared = null; // the budget that the goal has put aside
  document.querySelectorAll('input[name="objective"]').forEach((radio) =>
    radio.addEventListener("change", () => {
      $("coverage-on").disabled = objectiveNow() !== "coverage"; // to accept nothing is free
      if ($("coverage-on").disabled) $("coverage-on").checked = true;
      if (spared) spared.checked = true;
      const goal = $(LIMITS[objectiveNow()].box);
      spared = goal.checked ? goal : null;
      goal.checked = false;
      step();
    }),
  );

  /** Put the slider where the number says. */
  function place(name) {
    const { range, number } = LIMITS[name];
    $(range).value = String(
      Math.round((STEPS_OF_A_SLIDER * $(number).valueAsNumber) / explorer.top[name]),
    );
  }

  function update() {
    const runs = drawnRuns();
    $("explorer").hidden = !runs.length;
    if (!runs.length) return;
    const problem = problemNow();
    for (const { key, range } of Object.values(LIMITS)) {
      $(range)
        .closest(".limit")
        .classList.toggle("is-off", problem[key] === null);
      $(range).setAttribute(
        "aria-valuetext",
        problem[key] === null ? "no limit" : g(problem[key], 4),
      );
    }
    solveAll(problem);
    keepingFocus(() => drawFound(problem));
    drawScatter();
    drawPoints();
  }

  /** Rank along all directions, a little at a time, and draw when that is done. */
  let preparing = 0;
  function prepare() {
    const turn = ++preparing;
    const runs = drawnRuns();
    const more = () => {
      if (turn !== preparing) return;
      const unready = runs.find((run) => !ready(run).rules.prepare(30));
      if (unready) setTimeout(more);
      else {
        document.body.dataset.ready = "yes";
        step();
      }
    };
    delete document.body.dataset.ready;
    more();
  }

  return (changed) => {
    const runs = drawnRuns();
    if (!runs.length) return update();
    if (changed.includes("data") || changed.includes("loss") || changed.includes("all")) {
      explorer.top.risk = Math.max(...runs.map((run) => run.all.risk)) || 1;
      explorer.top.regret = Math.max(...runs.map((run) => run.all.regret)) || 1;
      const focus = focused().all;
      $("risk-number").value = g(0.6 * focus.risk, 2);
      $("regret-number").value = g(0.4 * focus.regret, 2);
      Object.keys(LIMITS).forEach(place);
    }
    prepare();
    update();
  };
}
