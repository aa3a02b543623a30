// Tables of results: columns that sort and explain themselves, the best and the second marked.

const isNumber = (x) => typeof x === "number";

/** What a column's number is worth for ranking: lower is better; null where it does not count. */
function costOf(column, row) {
  const value = row[column.key];
  if (value === null || value === undefined || !column.better) return null;
  return column.better === "low" ? value : -value;
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

/** Compare rows by a value, text in the order of letters; rows without a number come last. */
const comparing = (value, down) => (a, b) => {
  const [x, y] = [value(a), value(b)],
    turn = down ? -1 : 1;
  if (typeof x === "string") return turn * x.localeCompare(y);
  if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x);
  return turn * (x - y);
};

/** The heading of a column, which sorts by it and explains it. */
function header(column, sorting, sortBy, id = `tip-${column.key}`) {
  const active = sorting.key === column.key;
  const arrow = { low: "↓", high: "↑" }[column.better];
  const button = h(
    "button",
    {
      "aria-describedby": id,
      onclick: () => sortBy(column.key, active ? !sorting.down : column.better === "high"),
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

/** Where a column's bars end. */
const barEnd = (column, values) =>
  column.key.startsWith("n_aurec") || column.key.startsWith("r_aurec")
    ? 1
    : Math.max(...values.map(Math.abs));

function cell(column, run, marks, runs) {
  const value = run.row[column.key],
    text = fixed(value, column.digits);
  const cost = costOf(column, run.row);
  const place = cost === null ? -1 : marks.indexOf(Number(fixed(cost, column.digits)));
  const low = run.row[`${column.key}_ci_low`],
    high = run.row[`${column.key}_ci_high`];
  // From 0, so that a bar is as long as its number: to 1 where 1 has a meaning, else to the largest.
  const values = runs.map((r) => r.row[column.key]).filter(isNumber);
  const length = cost === null ? 0 : Math.min(Math.abs(value) / Math.max(1e-12, barEnd(column, values)), 1);
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
