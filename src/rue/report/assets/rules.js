// What a method attains with its own scores: the best rule w1 A^ + w2 E^ <= tau on these points.
//
// Searched over the epistemic component alone, the total, and 72 directions 5 degrees apart in the
// plane of both components, each shifted to 0 and divided by its range. Points of equal score are
// one block, of which a random part may be accepted. As the paper's achievable surface, the rule
// is chosen with the truth at hand: it tells what the scores are worth, and is not one to deploy.

const STEPS = 72;

class Rules {
  constructor(aleatoricHat, epistemicHat, points) {
    this.points = points;
    this.n = points.n;
    const [a, e] = [standard(aleatoricHat), standard(epistemicHat)];
    this.hat = [a.unit, e.unit];
    this.low = [a.low, e.low];
    this.range = [a.range, e.range];
    this.weights = [[0, 1]];
    const length = Math.hypot(a.range, e.range);
    if (a.range && e.range) this.weights.push([a.range / length, e.range / length]);
    for (let k = 0; k < STEPS; k++) {
      const angle = (2 * Math.PI * k) / STEPS;
      const weight = [Math.cos(angle), Math.sin(angle)].map((w) => Math.round(w * 1e12) / 1e12);
      if (weight[0] !== 0 || weight[1] !== 1) this.weights.push(weight);
    }
    this.ranked = [];
    this.byName = new Map();
  }

  /** Whether all directions are ranked; each call ranks some more, for so many milliseconds. */
  prepare(milliseconds = Infinity) {
    const start = performance.now();
    const name = (w1, w2) => `${w1 || 0} ${w2 || 0}`;
    while (this.ranked.length < this.weights.length) {
      const weight = this.weights[this.ranked.length];
      const opposite = this.byName.get(name(-weight[0], -weight[1]));
      const rank = opposite ? this.reversed(opposite) : this.rank(weight);
      this.byName.set(name(...weight), rank);
      this.ranked.push(rank);
      if (performance.now() - start > milliseconds) break;
    }
    return this.ranked.length === this.weights.length;
  }

  score([w1, w2]) {
    const [a, e] = this.hat,
      score = new Float64Array(this.n);
    for (let i = 0; i < this.n; i++) score[i] = w1 * a[i] + w2 * e[i];
    return score;
  }

  /** Blocks of equal score: points, risk and regret up to the end of each, and one of its rows. */
  rank(weight) {
    const score = this.score(weight);
    const order = argsort(score);
    const [total, epistemic] = this.points.scores;
    const edge = new Float64Array(this.n + 1);
    const risk = new Float64Array(this.n + 1);
    const regret = new Float64Array(this.n + 1);
    const row = new Uint32Array(this.n + 1);
    let block = 0;
    let before = NaN;
    for (let k = 0; k < this.n; k++) {
      const i = order[k];
      if (score[i] !== before) {
        before = score[i];
        row[++block] = i;
        risk[block] = risk[block - 1];
        regret[block] = regret[block - 1];
      }
      edge[block] = k + 1;
      risk[block] += total[i];
      regret[block] += epistemic[i];
    }
    const end = block + 1;
    return {
      edge: edge.subarray(0, end),
      risk: risk.subarray(0, end),
      regret: regret.subarray(0, end),
      row: row.subarray(0, end),
    };
  }

  /** The ranking in the opposite direction. */
  reversed({ edge, risk, regret, row }) {
    const last = edge.length - 1;
    const from = (sums) => sums.map((_, k) => sums[last] - sums[last - k]);
    const rows = row.map((_, k) => (k ? row[last + 1 - k] : 0));
    return { edge: from(edge), risk: from(risk), regret: from(regret), row: rows };
  }

  /** The best rule for a problem, or null if none meets its constraints. */
  best({ objective, coverageMin, riskMax, regretMax }) {
    const n = this.n;
    const room = (limit) => (limit === null ? Infinity : limit * n * (1 + TOLERANCE));
    let best = null;
    this.ranked.forEach((rank, k) => {
      let mass;
      if (objective === "coverage") {
        mass = Math.min(
          massWithin(rank.edge, rank.risk, room(riskMax)),
          massWithin(rank.edge, rank.regret, room(regretMax)),
        );
        if (coverageMin !== null && mass < coverageMin * n * (1 - TOLERANCE)) return;
      } else mass = coverageMin * n;
      const risk = interpolate(mass, rank.edge, rank.risk) / n;
      const regret = interpolate(mass, rank.edge, rank.regret) / n;
      if (riskMax !== null && risk > riskMax * (1 + 2 * TOLERANCE)) return;
      if (regretMax !== null && regret > regretMax * (1 + 2 * TOLERANCE)) return;
      const cost = { coverage: -mass / n, risk, regret }[objective];
      if (best === null || cost < best.cost - 1e-12 * Math.abs(best.cost))
        best = { cost, k, mass, coverage: mass / n, risk, regret };
    });
    return best === null ? null : { ...best, ...this.rule(best) };
  }

  /** The rule in the components' own units: |w1| + |w2| = 1, and its threshold. */
  rule({ k, mass }) {
    const weight = this.weights[k];
    const raw = weight.map((w, j) => (this.range[j] ? w / this.range[j] : 0));
    const size = Math.abs(raw[0]) + Math.abs(raw[1]) || 1;
    const zero = raw[0] * this.low[0] + raw[1] * this.low[1];
    const { edge, row } = this.ranked[k];
    const everything = mass >= this.n * (1 - TOLERANCE);
    const block = clamp(countBelow(edge, mass), 1, edge.length - 1);
    const part = everything ? 1 : (mass - edge[block - 1]) / (edge[block] - edge[block - 1]);
    const [a, e] = this.hat;
    const i = row[block];
    const level = everything ? Infinity : weight[0] * a[i] + weight[1] * e[i];
    return {
      weights: raw.map((w) => w / size),
      tau: (level + zero) / size,
      /** The probability with which each point is accepted. */
      shares: () => this.score(weight).map((s) => (s < level ? 1 : s > level ? 0 : part)),
    };
  }
}

/** A component shifted to 0 and divided by its range. */
function standard(values) {
  let low = Infinity,
    high = -Infinity;
  for (const x of values) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  const range = high - low;
  return { low, range, unit: Float64Array.from(values, (x) => (range ? (x - low) / range : 0)) };
}

/** How many points, blocks in their order and the last in part, cost no more than the room. */
function massWithin(edge, spent, room) {
  const k = countUpTo(spent, room) - 1;
  if (k === edge.length - 1) return edge[k];
  return edge[k] + ((edge[k + 1] - edge[k]) * (room - spent[k])) / (spent[k + 1] - spent[k]);
}
