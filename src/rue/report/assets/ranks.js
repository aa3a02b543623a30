// Ranks across criteria: a bump chart.

/** The criteria to draw, at most eight; all of them if the leaderboard shows all columns. */
const RANKED = new Set([
  "n_aurec", "aurc", "pareto_gap", "regret_calibration", "risk", "near_ood", "far_ood", "auac",
]);

/** Ranks of methods under a column, equal numbers sharing the mean of their places. */
function ranksUnder(column, runs) {
  const costs = runs.map((run) => costOf(column, run.row));
  return costs.map((cost) => {
    if (cost === null) return null;
    const below = costs.filter((c) => c !== null && c < cost).length;
    const equal = costs.filter((c) => c === cost).length;
    return below + (equal + 1) / 2;
  });
}

/** Where to draw ranks: those that are shared side by side, so that none hides another. */
function side(ranks) {
  const isBefore = (r, j, rank, i) => r !== null && (r < rank || (r === rank && j < i));
  return ranks.map((rank, i) => 1 + ranks.filter((r, j) => isBefore(r, j, rank, i)).length);
}

function makeRanks() {
  const host = $("ranks");
  function draw() {
    const runs = shownRuns();
    const columns = content.columns.filter(
      (c) =>
        c.better &&
        (RANKED.has(c.key) || $("all-columns").checked) &&
        runs.filter((run) => costOf(c, run.row) !== null).length > 1,
    );
    $("ranks-section").hidden = runs.length < 2 || columns.length < 2;
    const width = host.clientWidth;
    if (!width || $("ranks-section").hidden) return;
    const left = 46,
      right = clamp(
        24 + 8 * Math.max(...runs.map((r) => r.method.length)),
        60,
        Math.min(190, width * 0.4),
      );
    const longest = Math.max(...columns.map((column) => column.title.length)); // no title on another
    const gap = Math.max((width - left - right) / Math.max(columns.length - 1, 1), 74, 7 * longest);
    const full = left + right + gap * (columns.length - 1),
      row = 38,
      top = 44;
    const height = top + row * (runs.length - 1) + 30;
    const X = (k) => left + k * gap,
      Y = (rank) => top + (rank - 1) * row;
    const table = columns.map((column) => ranksUnder(column, runs));
    const spots = table.map(side);
    const picture = svg("svg", {
      viewBox: `0 0 ${full} ${height}`,
      width: full,
      height,
      role: "img",
      "aria-label": inWords(columns, table, runs),
    });
    columns.forEach((column, k) =>
      picture.append(
        svg("line", { class: "grid", x1: X(k), x2: X(k), y1: top - 14, y2: height - 16 }),
        svg("text", { class: "label", x: X(k), y: 18, "text-anchor": "middle" }, column.title),
      ),
    );
    runs.forEach((_, i) =>
      picture.append(svg("text", { class: "tick", x: 4, y: Y(i + 1) + 4 }, `${i + 1}`)),
    );
    const ordered = [...runs].sort(
      (a, b) => (a.method === state.focus) - (b.method === state.focus),
    );
    for (const run of ordered) {
      const i = runs.indexOf(run),
        focus = run.method === state.focus;
      const places = table.map((ranks, k) => (ranks[i] === null ? null : [X(k), Y(spots[k][i])]));
      let path = "",
        last = null,
        end = null;
      for (const place of places) {
        if (place) {
          const [x, y] = place;
          path += last
            ? `C${last[0] + gap * 0.45} ${last[1]} ${x - gap * 0.45} ${y} ${x} ${y}`
            : `M${x} ${y}`;
          end = place;
        }
        last = place; // a criterion that a method lacks leaves a gap
      }
      const group = svg(
        "g",
        { class: focus ? "bump is-focus" : "bump", style: { "--c": colourOf(run.method) } },
        svg("path", { d: path, "stroke-dasharray": dashOf(run.method) || null }),
        places.map(
          (place, k) =>
            place &&
            svg(
              "g",
              {},
              svg("circle", { cx: place[0], cy: place[1], r: focus ? 12 : 10 }),
              svg(
                "text",
                { x: place[0], y: place[1] + 4, "text-anchor": "middle" },
                g(table[k][i], 2),
              ),
              svg(
                "title",
                {},
                `${run.method}, ${columns[k].title}: ${fixed(run.row[columns[k].key], columns[k].digits)}`,
              ),
            ),
        ),
      );
      if (end)
        group.append(
          svg(
            "text",
            { class: "end", x: end[0] + 18, y: end[1] + 4 },
            shorten(run.method, (right - 20) / 8),
          ),
        );
      picture.append(group);
    }
    host.replaceChildren(picture);
    $("inversions").textContent = inversions(columns, table, runs);
  }
  whenResized(host, draw);
  return draw;
}

const shorten = (text, n) => (text.length <= n ? text : text.slice(0, Math.max(n - 1, 3)) + "…");

function inWords(columns, table, runs) {
  return (
    "Ranks. " +
    columns
      .map(
        (column, k) =>
          `${column.title}: ${runs
            .map((run, i) => [table[k][i], run.method])
            .filter(([r]) => r !== null)
            .sort((a, b) => a[0] - b[0])
            .map(([r, m]) => `${g(r, 2)} ${m}`)
            .join(", ")}`,
      )
      .join("; ")
  );
}

/** How often two methods change places between two criteria. */
function inversions(columns, table, runs) {
  let pairs = 0,
    turned = 0;
  for (let a = 0; a < columns.length; a++)
    for (let b = a + 1; b < columns.length; b++)
      for (let i = 0; i < runs.length; i++)
        for (let j = i + 1; j < runs.length; j++) {
          const [p, q] = [table[a][i] - table[a][j], table[b][i] - table[b][j]];
          if (
            !Number.isFinite(p) ||
            !Number.isFinite(q) ||
            [table[a][i], table[a][j], table[b][i], table[b][j]].includes(null)
          )
            continue;
          pairs++;
          if (p * q < 0) turned++;
        }
  return pairs
    ? `In ${percent(turned / pairs, 0)} of ${count(pairs)} comparisons of two methods under two criteria, the criteria disagree on which method is better.`
    : "";
}
