// Where both budgets bind: turn a line in the plane of (total, epistemic) until it meets them.
// The same steps as src/rue/selectors/_both_budgets.py. Triples are N times (coverage, risk, regret).

const ROUNDING = 1e-15;

/** The line at which the ray from the anchor leaves the attainable set; null if there is none. */
function turn(points, anchor, ray, pivot) {
  const tried = new Map();
  for (;;) {
    const ratio = bestRatio(points, anchor, ray, pivot);
    const place = `${pivot} ${ratio}`;
    if (ratio === null || tried.has(place)) {
      let best = null;
      for (const found of tried.values())
        if (best === null || found.missed < best.missed) best = found;
      return best !== null && best.missed <= TOLERANCE ? best.boundary : null;
    }
    const line = through(pivot, ratio, ray);
    const found = shareOut(line, ...split(line, points), anchor, ray);
    if (found.missed <= ROUNDING) return found.boundary;
    tried.set(place, found);
    pivot = found.better;
  }
}

/**
 * Turn a line about the pivot from c2/c1 = 0 to infinity; stop where it bounds the ray best.
 *
 * On the way points of less total and more epistemic leave, whose moment is negative, and those of
 * more total and less epistemic come in, whose moment is positive. The least ratio is sought at
 * which the moment of the points below passes the anchor's, and the line gains along the ray.
 */
function bestRatio(points, anchor, ray, pivot) {
  const [t, e] = pivot;
  const [total, epistemic] = points.scores;
  points.ratios ??= [new Float64Array(points.n), new Float64Array(points.n)];
  const [ratios, weights] = points.ratios;
  const a = e * ray[0] - ray[2],
    b = ray[1] - t * ray[0];
  let n = 0,
    stayed = 0;
  for (let start = 0; start < points.n; start += PART) {
    const end = Math.min(start + PART, points.n);
    let part = 0;
    for (let i = start; i < end; i++) {
      const u = difference(total[i], t),
        v = difference(epistemic[i], e);
      const momentOf = a * (total[i] - t) + b * (epistemic[i] - e);
      if ((u < 0 && v > 0) || (u > 0 && v < 0)) {
        ratios[n] = -u / v;
        weights[n++] = momentOf;
      } else if (u <= 0 && v <= 0) part += momentOf;
    }
    stayed += part;
  }
  const enough =
    moment(pivot, ray, anchor) - 0.1 * TOLERANCE * (Math.abs(stayed) + sizeOf(pivot, ray, anchor));
  const byRisk = t * ray[0] - ray[1];
  const gains = (ratio) =>
    byRisk + ratio * a > TOLERANCE * (Math.abs(byRisk) + Math.abs(ratio * a));
  const found = passing(ratios, weights, n, stayed, enough);
  if (found === null || gains(found)) return found;
  let least = null;
  for (let k = 0; k < n; k++)
    if (ratios[k] > found && gains(ratios[k]) && !(ratios[k] >= least && least !== null))
      least = ratios[k];
  return least;
}

/**
 * The least of n keys at which start + positive weights up to it + negative weights beyond it
 * come to `wanted`, or null. As a quick selection: no key is sorted that need not be.
 */
function passing(keys, weights, n, start, wanted) {
  let low = 0,
    high = n,
    come = 0,
    stay = 0; // positive before low, negative from high on
  while (low < high) {
    const x = keys[low],
      y = keys[(low + high) >> 1],
      z = keys[high - 1];
    const pivot = Math.max(Math.min(x, y), Math.min(Math.max(x, y), z));
    let less = low,
      more = high,
      comeBelow = 0,
      comeAt = 0,
      stayAt = 0,
      stayAbove = 0;
    for (let k = low; k < more;) {
      const key = keys[k],
        weight = weights[k];
      if (key === pivot) {
        if (weight > 0) comeAt += weight;
        else stayAt += weight;
        k++;
      } else {
        const to = key < pivot ? less++ : --more;
        keys[k] = keys[to];
        weights[k] = weights[to];
        keys[to] = key;
        weights[to] = weight;
        if (key < pivot) {
          if (weight > 0) comeBelow += weight;
          k++;
        } else if (weight < 0) stayAbove += weight;
      }
    }
    if (less > low && start + (stay + stayAbove + stayAt) + (come + comeBelow) >= wanted) {
      high = less;
      stay += stayAbove + stayAt;
    } else if (start + (stay + stayAbove) + (come + comeBelow + comeAt) >= wanted) return pivot;
    else {
      low = more;
      come += comeBelow + comeAt;
    }
  }
  return null;
}

/** The line through the pivot with c2/c1 = ratio, scaled to a gain of 1 along the ray. */
function through([t, e], ratio, ray) {
  const gain = t * ray[0] - ray[1] + ratio * (e * ray[0] - ray[2]);
  return makeLine(1 / gain, ratio / gain, (t + ratio * e) / gain);
}

/** Share out among the blocks on the line what the points below leave of both budgets. */
function shareOut(line, below, on, anchor, ray) {
  const gap = minus(anchor, below);
  const nOn = on.edge.at(-1);
  const reach = line.c1 * gap[1] + line.c2 * gap[2] - line.d * gap[0];
  const mass = gap[0] + reach * ray[0];
  const end = on.point(-1);
  const moments = on.total.map((t, k) => moment(end, ray, [1, t, on.epistemic[k]]));
  const sums = [0];
  moments.forEach((m, k) => sums.push(sums[k] + on.count[k] * m));
  const wanted = moment(end, ray, gap);
  const ofFirst = (m) => {
    const k = on.at(m);
    return sums[k] + (m - on.edge[k]) * moments[k];
  };
  const short = ofFirst(mass) - wanted;
  const over = wanted - (sums.at(-1) - ofFirst(nOn - mass));
  let missed = Math.max(short, over, 0);
  if (missed > 0) {
    const size = sizeOf(end, ray, anchor) + sizeOf(end, ray, below);
    missed /= size - (Math.abs(anchor[0]) + below[0]) * moments[0];
  }
  const better = on.point(on.at(short > over ? mass : nOn - mass));

  const skipped = clamp(nOn - mass, 0, nOn);
  const head = Float64Array.from([...on.edge, ...on.edge.map((x) => x - skipped)], (x) =>
    clamp(x, 0, nOn - skipped),
  ).sort();
  const taken = head.map(
    (x) => interpolate(x + skipped, on.edge, sums) - interpolate(x, on.edge, sums),
  );
  const nFirst = interpolate(sums.at(-1) - wanted, taken, head);
  const f = on.at(nFirst),
    g = on.at(nFirst + skipped);
  if (f === g) {
    const first = f ? on.cut(f - 1, 1) : null;
    const last = on.cut(f, 1 - skipped / on.count[f]);
    return { boundary: { ...line, first, last }, missed, better };
  }
  const whole = [];
  for (let k = 0; k < on.n; k++) if (k < f || k > g) whole.push(k);
  const left = minus(gap, on.sums(whole));
  const [x, y] = shares(left, on.sums([f]), on.sums([g]), line, ray);
  let last = on.cut(g, y);
  if (last.share === 0 && g + 1 < on.n) last = on.cut(g + 1, 1);
  return { boundary: { ...line, first: on.cut(f, x), last }, missed, better };
}

/** The shares of two blocks that use up the room; the first has more epistemic. */
function shares(room, first, last, line, ray) {
  const swap = ray[2] < 0;
  const [heavy, light] = swap ? [last, first] : [first, last];
  const about = [light[1] / light[0], light[2] / light[0]];
  const lever = moment(about, ray, heavy);
  let x = lever ? clamp(moment(about, ray, room) / lever, 0, 1) : 0;
  let k = 0;
  if (ray[0]) k = line.c1 * light[1] > line.c2 * light[2] ? 1 : 2;
  let y = (room[k] - x * heavy[k]) / light[k];
  if (!(y >= 0 && y <= 1)) {
    y = clamp(y, 0, 1);
    x = heavy[k] ? (room[k] - y * light[k]) / heavy[k] : x;
  }
  return swap ? [y, x] : [x, y];
}

const minus = (a, b) => a.map((x, i) => x - b[i]);

/** Determinant of a triple, the point (1, T, E) turned about, and the ray. */
function moment([t, e], ray, [coverage, risk, regret]) {
  return (
    (e * ray[0] - ray[2]) * (risk - t * coverage) + (ray[1] - t * ray[0]) * (regret - e * coverage)
  );
}

/** How large the terms of a moment are, and so its rounding error. */
function sizeOf([t, e], ray, triple) {
  const [coverage, risk, regret] = triple.map(Math.abs);
  return (
    (e * ray[0] + Math.abs(ray[2])) * (risk + t * coverage) +
    (Math.abs(ray[1]) + t * ray[0]) * (regret + e * coverage)
  );
}
