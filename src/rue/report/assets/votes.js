// What annotators answered about a point, beside what the method in focus predicts.

const CLASSES_SHOWN = 4;

const className = (card, c) => card.classes?.[c] ?? `class ${c}`;

/** The answers about point i and the predicted distribution, or null where they are not stored. */
function answersAbout(card, run, i) {
  if (!card.votes) return null;
  card.votes.places ??= new Map(card.votes.rows.map((row, k) => [row, k]));
  const k = card.votes.places.get(i);
  if (k === undefined) return null;
  const n = card.nClasses;
  const row = (reference) => arrayOf(reference).subarray(k * n, (k + 1) * n);
  const counts = row(card.votes.counts),
    total = counts.reduce((sum, count) => sum + count, 0);
  return {
    counts,
    total,
    shares: counts.map((count) => count / total),
    mean: run.mean ? row(run.mean) : null,
  };
}

/** Small bars: for each class the share of the answers, and below it the predicted probability. */
function voteBars(card, run, i) {
  const about = answersAbout(card, run, i);
  if (!about) return null;
  const { counts, total, shares, mean } = about;
  const most = (c) => Math.max(shares[c], mean ? mean[c] : 0);
  const few = shares.length <= CLASSES_SHOWN + 1; // these stay in their order
  const order = [...shares.keys()];
  if (!few) order.sort((a, b) => most(b) - most(a) || a - b);
  const kept = few ? order : order.slice(0, CLASSES_SHOWN);
  const rest = order.slice(kept.length);
  if (card.classes?.every((name) => name.trim() && Number.isFinite(Number(name))))
    kept.sort((a, b) => card.classes[a] - card.classes[b]); // ratings in the order of their scale
  const sum = (values) => rest.reduce((s, c) => s + values[c], 0);
  const rows = kept.map((c) => [className(card, c), counts[c], shares[c], mean?.[c]]);
  if (rest.length)
    rows.push([many(rest.length, "other class", "other classes"), sum(counts), sum(shares), mean && sum(mean)]);
  const bar = (kind, share) =>
    h("span", { class: kind, style: { "--l": share > 0 ? Math.max(share, 0.006) : 0 } });
  return h(
    "table",
    { class: "votes" },
    h("caption", { class: "sr" }, `Answers and prediction for ${card.ids[i]}`),
    h(
      "thead",
      { class: "sr" },
      h("tr", {}, ["class", "", "answers", run.method].map((t) => h("th", { scope: "col" }, t))),
    ),
    h(
      "tbody",
      {},
      rows.map(([name, count, share, p]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", title: name }, name),
          h(
            "td",
            { class: "pair", "aria-hidden": "true" },
            bar("said", share),
            mean && bar("predicted", p),
          ),
          h("td", { class: "said-number" }, card.votes.exact ? share.toFixed(2) : `${count} of ${total}`),
          mean && h("td", { class: "predicted-number" }, p.toFixed(2)),
        ),
      ),
    ),
  );
}

/** What the two bars mean, for the line above the list. */
const voteLegend = (card, run) =>
  card.votes
    ? [
        h("span", { class: "key said" }),
        card.votes.exact ? "known distribution " : "annotators' answers ",
        run.mean && [
          h("span", { class: "key predicted", style: { "--c": colourOf(run.method) } }),
          `mean prediction of ${isolated(run.method)}`,
        ],
      ]
    : [];
