// The leaderboard: every criterion, sortable, the best and the second marked.

const sorting = { key: "n_aurec", down: false };

const columnsNow = () =>
  content.columns.filter(
    (column) =>
      (column.main || $("all-columns").checked) &&
      runsNow().some((run) => isNumber(run.row[column.key])),
  );

function sortBy(key, down) {
  Object.assign(sorting, { key, down });
  drawLeaderboard();
  $("leaderboard").querySelector(`[data-key="${key}"] button`).focus();
}

/** The heading of a method's row: a button that puts it in focus. */
const nameCell = (method, attributes) =>
  h(
    "th",
    { scope: "row" },
    h("button", { class: "name", ...attributes }, swatch(method), h("span", {}, method)),
  );

function drawLeaderboard() {
  const runs = runsNow(),
    columns = columnsNow();
  const marks = Object.fromEntries(columns.map((column) => [column.key, places(column, runs)]));
  const value = (run) => (sorting.key === "method" ? run.method : run.row[sorting.key]);
  const rows = [...runs].sort(comparing(value, sorting.down));
  const head = h(
    "tr",
    {},
    header(
      {
        key: "method",
        title: "method",
        meaning: "The name of the prediction file or of the benchmark's method.",
      },
      sorting,
      sortBy,
    ),
    columns.map((column) => header(column, sorting, sortBy)),
  );
  const body = rows.map((run) =>
    h(
      "tr",
      {
        class: [run.method === state.focus ? "is-focus" : "", isShown(run) ? "" : "is-hidden"].join(
          " ",
        ),
      },
      nameCell(run.method, {
        "aria-pressed": run.method === state.focus,
        title: `put ${run.method} in focus`,
        onclick: () =>
          change({
            focus: run.method,
            hidden: new Set([...state.hidden].filter((m) => m !== run.method)),
          }),
      }),
      columns.map((column) => cell(column, run, marks[column.key], runs)),
    ),
  );
  $("leaderboard").replaceChildren(
    h("caption", { class: "sr" }, `Leaderboard, ${lossName(state.loss)} loss, ${state.data}`),
    h("thead", {}, head),
    h("tbody", {}, body),
  );
  const notes = runs.flatMap((run) =>
    (run.row.notes ?? []).map((note) => `${run.method}: ${note}.`),
  );
  $("notes").replaceChildren(...notes.map((note) => h("li", {}, note)));
}

/** Runs whose value prints like the first one's: no winner is named among them. */
const printedLike = (runs, first, key, digits) =>
  runs.filter((run) => fixed(run.row[key], digits) === fixed(first.row[key], digits));

/** Names as a sentence has them: "a", "a and b", "a, b and c". */
const listed = (runs, name) =>
  runs.flatMap((run, i) => [i === 0 ? "" : i < runs.length - 1 ? ", " : " and ", name(run)]);

/** What the numbers say, in sentences. */
function drawSummary() {
  const runs = bestFirst(shownRuns()).filter((run) => isNumber(run.row.n_aurec));
  const said = [];
  if (runs.length) {
    const best = runs[0],
      first = printedLike(runs, best, "n_aurec", 3),
      row = best.row;
    const bold = (run) => h("b", {}, run.method);
    const open = runs.filter((run) => best.best.includes(run.method));
    said.push(
      h(
        "p",
        { class: "lead" },
        ...(runs.length === 1
          ? [bold(best), " ranks avoidable error: n-AuReC "]
          : best.best.length === 1
            ? [bold(best), " finds avoidable error best, by paired tests: n-AuReC "]
            : open.length > 1
              ? ["No significant winner: ", ...listed(open, bold), " cannot be separated. The lowest n-AuReC is "]
              : [...listed(first, bold), first.length > 1 ? " have" : " has", " the lowest n-AuReC, "]),
        h("b", {}, fixed(row.n_aurec, 3)),
        isNumber(row.n_aurec_floor) && row.n_aurec_floor > 0
          ? `, where 1 is a random ranking and ${g(row.n_aurec_floor, 2)} the best that any ranking could show with these answers`
          : ", where 0 is a perfect ranking and 1 is a random ranking",
        runs.length > 1 && !best.best.length ? "; differences were not tested (rue report FILES --ci 0.95)." : ".",
      ),
    );
    said.push(
      h(
        "p",
        {},
        `The mean ${lossName(state.loss)} loss of ${isolated(best.method)} is ${g(row.risk, 3)}, of which ${g(row.regret, 3)} is regret (${percent(row.regret / row.risk, 0)}): avoidable if the model knew the distribution of the answers.`,
      ),
    );
    const gaps = shownRuns()
      .filter((run) => isNumber(run.row.pareto_gap))
      .sort((a, b) => a.row.pareto_gap - b.row.pareto_gap);
    if (gaps.length > 1) {
      const [closest, furthest] = [gaps[0], gaps.at(-1)].map((run) =>
        printedLike(gaps, run, "pareto_gap", 4),
      );
      const names = (tied) => listed(tied, (run) => isolated(run.method)).join("");
      const gap = (tied) => fixed(tied[0].row.pareto_gap, 4);
      said.push(
        h(
          "p",
          {},
          closest.length < gaps.length
            ? `With both components, ${names(closest)} ${closest.length > 1 ? "come" : "comes"} closest to the optimal accept/reject rules (Pareto-gap ${gap(closest)}), ${names(furthest)} ${furthest.length > 1 ? "are" : "is"} farthest (${gap(furthest)}).`
            : `With both components, ${names(closest)} come equally close to the optimal accept/reject rules (Pareto-gap ${gap(closest)}).`,
        ),
      );
    }
  }
  $("summary").replaceChildren(...said);
}
