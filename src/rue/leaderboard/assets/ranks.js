// Ranks with probabilities, as the board has them for a regime and a criterion.

/** The rank of each shown row by its number, equal numbers sharing the best of their places. */
function ranksOf(ranking, rows) {
  const value = (place) => rows[place].row[state.criterion];
  const known = ranking.places.filter((place) => isNumber(value(place)));
  return new Map(
    known.map((place) => [place, 1 + known.filter((p) => value(p) < value(place)).length]),
  );
}

/** What the bootstrap says about a row: the probability of each rank. */
function chances(ranking, place) {
  const at = ranking ? ranking.places.indexOf(place) : -1;
  const probability = at < 0 ? null : ranking.probability[at];
  return probability && isNumber(probability[0])
    ? { probability, expected: ranking.expected[at], first: probability[0] }
    : null;
}

/** The probabilities of the ranks as bars, and in words for those who cannot see them. */
function strip(found) {
  const words = found.probability
    .map((p, r) => [p, r + 1])
    .filter(([p]) => p >= 0.005)
    .map(([p, r]) => `rank ${r}: ${percent(p, 0)}`)
    .join(", ");
  return h(
    "span",
    { class: "strip", role: "img", "aria-label": words, title: words },
    found.probability.map((p) => h("i", { style: { "--p": p } })),
  );
}
