// What the explorer found, shown: the optimum, a table of all methods, and bars.

function ruleInWords({ lam, tau }) {
  if (tau === Infinity) return "Accept every point.";
  const score =
    lam === 0.5 ? "A* + E*" : lam === 1 ? "E*" : `${g(1 - lam, 3)} A* + ${g(lam, 3)} E*`;
  return `Accept where ${score} ≤ ${g(lam === 0.5 ? 2 * tau : tau, 4)}.`;
}

function ownRuleInWords({ weights: [w1, w2], tau }) {
  if (tau === Infinity) return "accept every point";
  if (!w1 && !w2) return "all scores are equal: accept at random";
  const one =
    Math.abs(w1) < 1e-9
      ? w2 < 0
        ? "−Ê"
        : "Ê"
      : Math.abs(w2) < 1e-9
        ? w1 < 0
          ? "−Â"
          : "Â"
        : null;
  const sign = w2 < 0 ? "−" : "+";
  return `${one ?? `${w1 < 0 ? "−" : ""}${g(Math.abs(w1), 3)} Â ${sign} ${g(Math.abs(w2), 3)} Ê`} ≤ ${g(tau, 4).replace("-", "−")}`;
}

const SHOWN = ["coverage", "risk", "regret"];

/** What the team costs if a person answers the rejected points, beside each of them alone. */
function teamInWords(run, own) {
  const { person, total } = ready(run);
  if (!person || !own) return [];
  const shares = own.shares();
  const mean = (cost) => total.reduce((sum, _, i) => sum + cost(i), 0) / total.length;
  const team = mean((i) => shares[i] * total[i] + (1 - shares[i]) * person[i]);
  const kind = run.row.person_kind === "panel" ? "the other annotators" : "a person";
  return [
    h(
      "p",
      { id: "team" },
      `If ${kind} answered what this rule rejects, model and person together would cost `,
      h("b", {}, g(team, 4)),
      `; the model alone costs ${g(mean((i) => total[i]), 4)}, ${kind} alone ${g(mean((i) => person[i]), 4)}.`,
    ),
  ];
}

function drawFound(problem) {
  const run = focused(),
    { optimum, own, why } = explorer.found.get(run.method);
  const goal = { coverage: "largest coverage", risk: "least risk", regret: "least regret" }[
    problem.objective
  ];
  $("optimum").replaceChildren(
    h(
      "p",
      { class: "goal" },
      `The ${goal} that perfect knowledge of ${isolated(run.method)}'s errors attains`,
    ),
    ...(optimum
      ? [
          h(
            "dl",
            { class: "readout" },
            [
              ["coverage", "coverage"],
              ["risk", "risk"],
              ["regret", "regret"],
              ["lam", "λ"],
              ["tau", "τ"],
            ].map(([key, name]) =>
              h(
                "div",
                { class: key === problem.objective ? "is-goal" : "" },
                h("dt", {}, name),
                h("dd", { "data-key": key }, g(optimum[key], 4)),
              ),
            ),
          ),
          h(
            "p",
            {},
            ruleInWords(optimum),
            " ",
            own === undefined
              ? ""
              : own === null
                ? `No rule on ${isolated(run.method)}'s own scores meets these budgets.`
                : `With its own scores: ${ownRuleInWords(own)}, which attains coverage ${g(own.coverage, 4)}, risk ${g(own.risk, 4)}, regret ${g(own.regret, 4)}.`,
          ),
          ...teamInWords(run, own),
        ]
      : [h("p", { class: "infeasible", role: "status" }, `Not possible: ${why}.`)]),
  );

  const rows = drawnRuns().map((each) => {
    const found = explorer.found.get(each.method);
    const cells = (what, part, keys) =>
      keys.map((key) =>
        h(
          "td",
          { "data-part": part, "data-key": key, class: key === problem.objective ? "is-goal" : "" },
          what === undefined ? "…" : g(what[key], 4),
        ),
      );
    const none = (span, text) => [h("td", { colspan: span, class: "infeasible" }, text)];
    return h(
      "tr",
      { class: each === run ? "is-focus" : "", "data-method": each.method },
      nameCell(each.method, {
        "aria-pressed": each === run,
        onclick: () => change({ focus: each.method }),
      }),
      found.optimum
        ? cells(found.optimum, "optimum", [...SHOWN, "lam", "tau"])
        : none(5, `not possible: ${found.why}`),
      found.own === null
        ? none(4, "no rule meets the budgets")
        : [
            cells(found.own, "own", SHOWN),
            h("td", { class: "rule" }, found.own ? ownRuleInWords(found.own) : "…"),
          ],
    );
  });
  const sub = (names) => names.map((name) => h("th", { scope: "col" }, name));
  $("attained").replaceChildren(
    h("caption", { class: "sr" }, "What is attained under these budgets, by method"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { rowspan: 2, scope: "col" }, "method"),
        h("th", { colspan: 5, scope: "colgroup" }, "attainable optimum"),
        h("th", { colspan: 4, scope: "colgroup" }, "with its own scores"),
      ),
      h(
        "tr",
        {},
        sub(["coverage", "risk", "regret", "λ", "τ"]),
        sub(["coverage", "risk", "regret", "rule"]),
      ),
    ),
    h("tbody", {}, rows),
  );
  drawAttained(problem);
  const card = cardNow();
  $("explorer-note").textContent =
    `Solved in ${Math.max(1, Math.round(explorer.lastStep))} ms for ${many(drawnRuns().length, "method")} on ` +
    (card.nShown < card.nPoints
      ? `a random ${count(card.nShown)} of ${count(card.nPoints)} points; rue select solves for all.`
      : (card.nPoints === 1 ? "one point." : `all ${count(card.nPoints)} points.`));
}

/** Bars: what its own scores attain of what could be attained. */
function drawAttained({ objective }) {
  const runs = drawnRuns();
  const value = (found) => (found ? found[objective] : null);
  const all = runs.map((run) => explorer.found.get(run.method));
  const top =
    objective === "coverage"
      ? 1
      : Math.max(...all.flatMap((f) => [value(f.optimum), value(f.own)]).filter(isNumber), 0) || 1;
  $("bars").replaceChildren(
    ...runs.map((run, i) => {
      const [best, own] = [value(all[i].optimum), value(all[i].own)];
      const name = `${run.method}: optimum ${best === null ? "not possible" : g(best, 4)}, own scores ${own === null ? "not possible" : g(own, 4)}`;
      return h(
        "div",
        {
          class: "bullet",
          role: "img",
          "aria-label": name,
          style: { "--c": colourOf(run.method) },
        },
        h("span", { class: "bullet-name" }, run.method),
        h(
          "span",
          { class: "bullet-track" },
          h("span", { class: "bullet-own", style: { width: `${(100 * (own ?? 0)) / top}%` } }),
          best === null
            ? null
            : h("span", { class: "bullet-best", style: { left: `${(100 * best) / top}%` } }),
        ),
        h("span", { class: "bullet-value" }, own === null ? "–" : g(own, 3)),
      );
    }),
  );
  $("bars-note").textContent =
    `${objective[0].toUpperCase() + objective.slice(1)}: the bar is what a method's own scores attain, the tick is the optimum.`;
}
