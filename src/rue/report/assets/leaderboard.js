// The leaderboard: every criterion, sortable, the best and the second marked.

const sorting = { key: "n_aurec", down: false };

/** What a column's number is worth for ranking: lower is better; null where it does not count. */
function costOf(column, row) {
  const value = row[column.key];
  if (value === null || value === undefined || !column.better) return null;
  return column.better === "low" ? value : -value;
}

const columnsNow = () =>
  content.columns.filter((column) => runsNow().some((run) => isNumber(run.row[column.key])));
const isNumber = (x) => typeof x === "number";

function drawLeaderboard() {
  const runs = runsNow(),
    columns = columnsNow();
  const marks = Object.fromEntries(columns.map((column) => [column.key, places(column, runs)]));
  const byName = sorting.key === "method";
  const value = (run) => (byName ? run.method : run.row[sorting.key]);
  const rows = [...runs].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (byName) return (sorting.down ? -1 : 1) * x.localeCompare(y);
    if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x);
    return sorting.down ? y - x : x - y;
  });
  const head = h(
    "tr",
    {},
    header({
      key: "method",
      title: "method",
      meaning: "The name of the prediction file or of the benchmark's method.",
    }),
    columns.map(header),
  );
  const body = rows.map((run) =>
    h(
      "tr",
      {
        class: [run.method === state.focus ? "is-focus" : "", isShown(run) ? "" : "is-hidden"].join(
          " ",
        ),
      },
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            class: "name",
            "aria-pressed": run.method === state.focus,
            title: `put ${run.method} in focus`,
            onclick: () =>
              change({
                focus: run.method,
                hidden: new Set([...state.hidden].filter((m) => m !== run.method)),
              }),
          },
          swatch(run.method),
          h("span", {}, run.method),
        ),
      ),
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

/** The value that prints best, and second best, as printed: what prints alike is marked alike. */
function places(column, runs) {
  const costs = [
    ...new Set(
      runs
        .map((run) => costOf(column, run.row))
        .filter((c) => c !== null)
        .map((c) => Number(fixed(c, column.digits))),
    ),
  ].sort((a, b) => a - b);
  return costs.length > 1 ? costs.slice(0, 2) : [];
}

function header(column) {
  const active = sorting.key === column.key;
  const arrow = { low: "↓", high: "↑" }[column.better];
  const id = `tip-${column.key}`;
  const button = h(
    "button",
    {
      "aria-describedby": id,
      onclick: () => {
        sorting.down = active ? !sorting.down : column.better === "high";
        sorting.key = column.key;
        drawLeaderboard();
        $("leaderboard").querySelector(`[data-key="${column.key}"] button`).focus();
      },
    },
    column.title,
    arrow &&
      h(
        "span",
        { class: "arrow", title: column.better === "low" ? "lower is better" : "higher is better" },
        arrow,
      ),
  );
  const bubble = h("span", { class: "bubble", role: "tooltip", id }, column.meaning);
  const show = () => {
    const box = button.getBoundingClientRect();
    bubble.style.display = "block";
    bubble.style.top = `${box.bottom + 8}px`;
    bubble.style.left = `${clamp(box.left - 20, 8, innerWidth - bubble.offsetWidth - 8)}px`;
  };
  const hide = () => (bubble.style.display = "");
  return h(
    "th",
    {
      scope: "col",
      "data-key": column.key,
      "aria-sort": active ? (sorting.down ? "descending" : "ascending") : "none",
      onpointerenter: show,
      onpointerleave: hide,
      onfocusin: show,
      onfocusout: hide,
      onkeydown: (event) => event.key === "Escape" && hide(),
    },
    button,
    bubble,
  );
}

function cell(column, run, marks, runs) {
  const value = run.row[column.key],
    text = fixed(value, column.digits);
  const cost = costOf(column, run.row);
  const place = cost === null ? -1 : marks.indexOf(Number(fixed(cost, column.digits)));
  const low = run.row[`${column.key}_ci_low`],
    high = run.row[`${column.key}_ci_high`];
  const costs = runs.map((r) => costOf(column, r.row)).filter((c) => c !== null);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const length = cost === null || most === least ? 0 : 1 - (0.9 * (cost - least)) / (most - least);
  return h(
    "td",
    { class: ["best", "second"][place] ?? "" },
    h("span", { class: "number" }, text),
    place >= 0 && h("span", { class: "sr" }, [", best", ", second best"][place]),
    isNumber(run.row[`${column.key}_std`]) &&
      h(
        "span",
        { class: "interval", title: "standard deviation over seeds" },
        `± ${g(run.row[`${column.key}_std`], 2)}`,
      ),
    isNumber(low) &&
      isNumber(high) &&
      h(
        "span",
        { class: "interval", title: `${percent(run.row.ci ?? 0.95, 0)} interval` },
        `${fixed(low, column.digits)} – ${fixed(high, column.digits)}`,
      ),
    cost !== null && h("span", { class: "bar", "aria-hidden": "true", style: { "--l": length } }),
  );
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
      last = printedLike(runs, runs.at(-1), "n_aurec", 3),
      row = best.row;
    const bold = (run) => h("b", {}, run.method);
    const tied =
      first.length < runs.length
        ? " find avoidable error best, equally well"
        : " find avoidable error equally well";
    const verb = runs.length === 1 ? "" : first.length > 1 ? tied : " finds avoidable error best";
    said.push(
      h(
        "p",
        { class: "lead" },
        ...listed(first, bold),
        `${verb}: n-AuReC `,
        h("b", {}, fixed(row.n_aurec, 3)),
        ", where 0 is a perfect ranking and 1 is a random ranking",
        ...(first.length < runs.length
          ? [
              ". ",
              ...listed(last, bold),
              last.length > 1 ? " find it worst, at " : " finds it worst, at ",
              fixed(last[0].row.n_aurec, 3),
              ".",
            ]
          : ["."]),
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
            ? `With both components, ${names(closest)} ${closest.length > 1 ? "come" : "comes"} closest to the optimal accept/reject rules (Pareto-gap ${gap(closest)}), ${names(furthest)} least close (${gap(furthest)}).`
            : `With both components, ${names(closest)} come equally close to the optimal accept/reject rules (Pareto-gap ${gap(closest)}).`,
        ),
      );
    }
  }
  $("summary").replaceChildren(...said);
}
