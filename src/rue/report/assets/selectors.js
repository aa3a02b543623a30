// Theorem 1: the three problems, solved exactly on the sample, as rue.optimal_selector does.
// The same steps as src/rue/selectors/_programs.py and src/rue/selectors/optimal.py, not normalised.

const TOO_MUCH = 1e-10,
  SAME = 8e-12;
const NAMES = ["risk", "regret"];

class Infeasible extends Error {}

function infeasible(what, best, given) {
  return new Infeasible(`no selector ${given} has ${what}: the best attainable is ${g(best, 9)}`);
}

const isMet = (spent, room) => spent <= room + TOLERANCE * room;

/** (P_C): maximise coverage under a risk and a regret budget; null is no budget. */
function mostCoverage(points, limits) {
  const everything = makeLine(0, 0, 1);
  const rooms = limits.map((limit) => (limit === null ? null : limit * points.n));
  const starts = [];
  for (const axis of [0, 1]) {
    if (rooms[axis] === null || isMet(points.sum[axis], rooms[axis])) continue;
    const line = firstWithin(points, axis, rooms[axis]);
    const share = acceptance(line, points);
    const other = rooms[1 - axis];
    if (other === null || isMet(sumOf(share, points.scores[1 - axis]), other)) return line;
    starts.push([sumOf(share), line]);
  }
  if (rooms.includes(null) || !starts.length) return everything;
  // From the tighter of the two no turn leads back to a line for one budget alone.
  const { first } = starts.reduce((a, b) => (b[0] < a[0] ? b : a))[1];
  return turn(points, [0, ...rooms], [1, 0, 0], [first.total, first.epistemic]);
}

/** (P_Ri) for axis 0, (P_Re) for axis 1: minimise under a coverage floor and a budget. */
function leastCost(points, axis, floor, limit) {
  const mass = whole(floor * points.n);
  let line = firstPoints(points, axis, mass);
  if (limit !== null) {
    const other = points.scores[1 - axis],
      budget = limit * points.n;
    if (!isMet(sumOf(acceptance(line, points), other), budget)) {
      const best = acceptance(firstPoints(points, 1 - axis, mass), points);
      const least = sumOf(best, other);
      if (!isMet(least, budget)) {
        const what = `${NAMES[1 - axis]} <= ${g(limit, 6)}`;
        throw infeasible(what, least / points.n, `with coverage >= ${g(floor, 6)}`);
      }
      const room = Math.max(budget, least);
      const anchor = axis ? [mass, room, 0] : [mass, 0, room];
      const ray = axis ? [0, 0, -1] : [0, -1, 0];
      line = turn(points, anchor, ray, [line.first.total, line.first.epistemic]);
    }
  }
  return widened(line, points, axis, limit);
}

/** Take points by one score until its budget is used up. */
function firstWithin(points, axis, room) {
  const ranked = points.ranked[axis];
  const allowed = room + TOLERANCE * room;
  let nWithin = 0,
    spent = 0;
  for (; nWithin < points.n; nWithin++) {
    spent += ranked[nWithin];
    if (spent > allowed) break;
  }
  const d = ranked[Math.min(nWithin, points.n - 1)];
  const line = makeLine((1 - axis) / d, axis / d, 1);
  const [below, on] = split(line, points);
  line.first = on.firstWithin([on.total, on.epistemic][axis], room - below[1 + axis]);
  return line;
}

/** Take so many points by one score. */
function firstPoints(points, axis, mass) {
  const k = Math.ceil(mass);
  const line = makeLine(1 - axis, axis, k ? points.ranked[axis][k - 1] : 0);
  const [below, on] = split(line, points);
  if (on.n)
    line.first = on.firstWithin(
      on.total.map(() => 1),
      mass - below[0],
    );
  return line;
}

/** Among the optima take the one of largest coverage: more is free only at score 0. */
function widened(line, points, axis, limit) {
  const [, on] = split(line, points);
  if (line.d > 0 || on.n === 0) return line;
  if (limit === null) return { ...line, first: on.cut(-1, 1), last: null };
  let cost = [on.epistemic, on.total][axis].map((x) => difference(x, 0));
  const binds = [line.c2, line.c1][axis] > 0;
  let fromLast = binds && axis === 0;
  if (binds && sumOf(cost, on.count) < 0) {
    cost = cost.map((x) => -x);
    fromLast = !fromLast;
  }
  const cut = on.firstWithin(cost, limit * points.n, fromLast);
  return { ...line, first: fromLast ? null : cut, last: fromLast ? cut : null };
}

/** A whole number where only rounding keeps it from being one. */
function whole(mass) {
  const near = Math.round(mass);
  return Math.abs(mass - near) <= TOLERANCE * mass ? near : mass;
}

/** Numbers that differ only by rounding, brought together: each run means its mean. */
function atLevels(values) {
  const order = argsort(values);
  const snapped = Float64Array.from(values);
  const gap = SAME * values[order[order.length - 1]];
  for (let start = 0; start < order.length;) {
    let end = start + 1,
      sum = values[order[start]],
      distinct = 1;
    for (; end < order.length; end++) {
      const step = values[order[end]] - values[order[end - 1]];
      if (step > gap) break;
      if (step > 0) {
        sum += values[order[end]];
        distinct++;
      }
    }
    for (let k = start; k < end; k++) snapped[order[k]] = sum / distinct;
    start = end;
  }
  return snapped;
}

/**
 * Solve one of Theorem 1's problems.
 *
 * problem: {objective: "coverage" | "risk" | "regret", coverageMin, riskMax, regretMax}, null
 * where there is no such constraint. Gives {lam, tau, alpha, beta, coverage, risk, regret, share,
 * line}, or throws Infeasible.
 */
function optimalSelector(points, problem) {
  const { objective, coverageMin, riskMax, regretMax } = problem;
  const floor = coverageMin ?? 0;
  const [total, epistemic] = points.scores;
  const axis = NAMES.indexOf(objective);
  if (axis >= 0 && coverageMin === null) throw new Infeasible("to minimise, set a coverage floor");

  function solve(plane, slack) {
    const limits = [riskMax, regretMax].map((limit, k) =>
      limit === null ? null : limit + slack * points.largest[k],
    );
    const line =
      axis < 0 ? mostCoverage(plane, limits) : leastCost(plane, axis, floor, limits[1 - axis]);
    const share = acceptance(line, plane);
    const least = axis < 0 ? 0 : floor;
    const coverage = sumOf(share) / points.n;
    let excess = least ? (least - coverage) / least : 0;
    [riskMax, regretMax].forEach((limit, k) => {
      if (limit === null || k === axis) return;
      const spent = sumOf(share, points.scores[k]) / points.n;
      excess = Math.max(excess, (spent - limit) / (limit + 1e-3 * points.largest[k] + 1e-300));
    });
    return { line, share, excess };
  }

  let found = solve(points, 0);
  if (found.excess > TOO_MUCH) {
    points.snapped ??= new Points(atLevels(total), atLevels(epistemic));
    const again = solve(points.snapped, SAME);
    if (again.excess < found.excess) found = again;
  }
  const { line, share } = found;
  const coverage = sumOf(share) / points.n;
  const risk = sumOf(share, total) / points.n;
  const regret = sumOf(share, epistemic) / points.n;
  if (axis < 0) {
    if (coverageMin !== null && coverage < coverageMin * (1 - TOLERANCE))
      throw infeasible(`coverage >= ${g(coverageMin, 6)}`, coverage, "within the budgets");
  } else {
    const limit = [riskMax, regretMax][axis],
      best = [risk, regret][axis];
    if (limit !== null && best > limit * (1 + TOLERANCE))
      throw infeasible(`${objective} <= ${g(limit, 6)}`, best, "within the other budgets");
  }
  const weight = 2 * line.c1 + line.c2;
  return {
    lam: weight ? (line.c1 + line.c2) / weight : 0.5,
    tau: weight ? line.d / weight : Infinity,
    alpha: axis < 0 ? line.c1 : line.d,
    beta: axis < 0 ? line.c2 : axis === 0 ? line.c2 : line.c1,
    coverage,
    risk,
    regret,
    share,
    line,
  };
}
