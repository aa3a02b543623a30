// The boundary between accept and reject: a line in the plane of (total, epistemic).
// The same steps as src/rue/selectors/_boundary.py, for problems that are not normalised.

const TOLERANCE = 1e-12; // relative: what differs by less is equal

/** A sample in the plane of total (axis 0) and epistemic (axis 1), with both rankings. */
class Points {
  constructor(total, epistemic) {
    this.scores = [total, epistemic];
    this.n = total.length;
    this.ranked = [Float64Array.from(total).sort(), Float64Array.from(epistemic).sort()];
    this.sum = this.scores.map((score) => sumOf(score));
    this.largest = this.ranked.map((ranked) => ranked[this.n - 1]);
  }
}

/** Accept below c1 T + c2 E = d, reject above; on it, those before `first` and after `last`. */
function makeLine(c1, c2, d, first = null, last = null) {
  return { c1, c2, d, first, last };
}

const BELOW = 1,
  ON = 2;

/** Which points are below a line (1), on it (2), above it (0). */
function sides(line, points) {
  const { c1, c2, d } = line;
  const [total, epistemic] = points.scores;
  const side = new Uint8Array(points.n);
  for (let i = 0; i < points.n; i++) {
    const gap = c1 * total[i] + c2 * epistemic[i] - d;
    const width = TOLERANCE * (gap + 2 * d);
    side[i] = gap < -width ? BELOW : Math.abs(gap) <= width ? ON : 0;
  }
  return side;
}

/** Two keys that sort points on the line by total, then epistemic. */
function keysOf(line, total, epistemic) {
  if (line.c2 === 0) return [epistemic, total];
  return [line.c2 * total - line.c1 * epistemic, line.c1 ? total : epistemic];
}

/** The probability with which each point is accepted. */
function acceptance(line, points) {
  const side = sides(line, points);
  const [total, epistemic] = points.scores;
  const share = new Float64Array(points.n);
  const cuts = [
    [line.first, -1],
    [line.last, 1],
  ].filter(([cut]) => cut !== null);
  for (let i = 0; i < points.n; i++) {
    if (side[i] === BELOW) share[i] = 1;
    if (side[i] !== ON) continue;
    const [key, then] = keysOf(line, total[i], epistemic[i]);
    for (const [cut, outside] of cuts) {
      const [cutKey, cutThen] = keysOf(line, cut.total, cut.epistemic);
      const place = Math.sign(key - cutKey) || Math.sign(then - cutThen);
      if (place === outside) share[i] = 1;
      else if (place === 0) share[i] = cut.share;
    }
  }
  return share;
}

/** Points on a line in their order there, identical ones counted together. */
class Blocks {
  constructor(line, points, rows) {
    const [total, epistemic] = points.scores;
    const key = new Float64Array(rows.length),
      then = new Float64Array(rows.length);
    rows.forEach((i, k) => ([key[k], then[k]] = keysOf(line, total[i], epistemic[i])));
    let order = argsort(key);
    for (let k = 1; k < order.length; k++) {
      const a = order[k - 1],
        b = order[k];
      if (key[a] === key[b] && then[a] !== then[b]) {
        order = order.sort((x, y) => key[x] - key[y] || then[x] - then[y]);
        break;
      }
    }
    this.total = [];
    this.epistemic = [];
    this.edge = [];
    order.forEach((k, place) => {
      const i = rows[k],
        end = this.total.length - 1;
      if (end >= 0 && total[i] === this.total[end] && epistemic[i] === this.epistemic[end]) return;
      this.total.push(total[i]);
      this.epistemic.push(epistemic[i]);
      this.edge.push(place);
    });
    this.n = this.total.length;
    this.edge.push(rows.length);
    this.count = this.total.map((_, k) => this.edge[k + 1] - this.edge[k]);
  }

  point(block) {
    return [this.total.at(block), this.epistemic.at(block)];
  }

  /** What whole blocks attain: (number, total, epistemic). */
  sums(blocks) {
    const take = (column) => blocks.map((k) => column[k]);
    const count = take(this.count);
    return [sumOf(count), sumOf(count, take(this.total)), sumOf(count, take(this.epistemic))];
  }

  /** Which block so many points end in, counted from the first. */
  at(mass) {
    return clamp(countBelow(this.edge, mass) - 1, 0, this.n - 1);
  }

  /** Cut one block; a share is 0 or 1 if only rounding keeps it from being so. */
  cut(block, share) {
    share = clamp(share, 0, 1);
    if (Math.abs(share - Math.round(share)) <= TOLERANCE) share = Math.round(share);
    const [total, epistemic] = this.point(block);
    return { total, epistemic, share };
  }

  /** Cut where the first points, at `cost` each, have used up the room; all if never. */
  firstWithin(cost, room, reverse = false) {
    let costs = cost.map((c, k) => c * this.count[k]);
    if (reverse) costs = costs.reverse();
    const spent = [0];
    for (const c of costs) spent.push(spent.at(-1) + c);
    let k = spent.slice(1).filter((s) => s <= room).length;
    let share = k < this.n ? (room - spent[k]) / costs[k] : 0;
    if (k && share <= TOLERANCE) {
      k -= 1;
      share = 1;
    }
    return this.cut(reverse ? this.n - 1 - k : k, share);
  }
}

/** What the points below a line attain, and the blocks on it. */
function split(line, points) {
  const side = sides(line, points);
  const [total, epistemic] = points.scores;
  const on = [];
  let n = 0;
  for (let i = 0; i < points.n; i++) {
    if (side[i] === ON) on.push(i);
    else if (side[i] === BELOW) n++;
  }
  const below = [n, sumOf(total, null, side, BELOW), sumOf(epistemic, null, side, BELOW)];
  return [below, new Blocks(line, points, on)];
}

/** value - other, 0 where only rounding keeps them from being equal. */
function difference(value, other) {
  const gap = value - other;
  return Math.abs(gap) <= TOLERANCE * (value + other) ? 0 : gap;
}
