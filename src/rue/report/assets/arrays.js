// What numpy does, on typed arrays: sorting, sums, interpolation.

const DIGIT = 11;

/**
 * Indices 0..n-1 in the order of keys, ties by position.
 *
 * Keys are first ordered as 32-bit numbers, digit by digit; what these cannot tell apart is put
 * right by insertion. Where that is too much, a plain sort does it.
 */
function argsort(keys) {
  const n = keys.length;
  let most = 0;
  for (let i = 0; i < n; i++) most = Math.max(most, Math.abs(keys[i]));
  const single = new Float32Array(n),
    bits = new Uint32Array(single.buffer);
  for (let i = 0; i < n; i++) single[i] = most ? keys[i] / most : 0;
  // Negative numbers sort backwards and below: turn their bits round.
  for (let i = 0; i < n; i++) bits[i] = bits[i] >>> 31 ? ~bits[i] : bits[i] | 0x80000000;
  let rows = new Uint32Array(n),
    next = new Uint32Array(n);
  for (let i = 0; i < n; i++) rows[i] = i;
  for (let shift = 0; shift < 32; shift += DIGIT) {
    const place = new Uint32Array((1 << DIGIT) + 1),
      mask = (1 << DIGIT) - 1;
    for (let i = 0; i < n; i++) place[((bits[i] >>> shift) & mask) + 1]++;
    for (let d = 0; d < mask; d++) place[d + 1] += place[d];
    for (let i = 0; i < n; i++) next[place[(bits[rows[i]] >>> shift) & mask]++] = rows[i];
    [rows, next] = [next, rows];
  }
  let moves = 0;
  for (let k = 1; k < n; k++) {
    const row = rows[k],
      key = keys[row];
    let j = k - 1;
    for (; j >= 0 && keys[rows[j]] > key; j--) rows[j + 1] = rows[j];
    rows[j + 1] = row;
    moves += k - 1 - j;
    if (moves > 20 * n) return rows.sort((x, y) => keys[x] - keys[y] || x - y);
  }
  return rows;
}

const PART = 256;

/** The sum of a[i] b[i] where mask[i] is `is`; in parts, so that rounding stays small. */
function sumOf(a, b = null, mask = null, is = 1) {
  let sum = 0;
  for (let start = 0; start < a.length; start += PART) {
    const end = Math.min(start + PART, a.length);
    let part = 0;
    for (let i = start; i < end; i++)
      if (mask === null || mask[i] === is) part += b === null ? a[i] : a[i] * b[i];
    sum += part;
  }
  return sum;
}

/** How many elements an array begins with that pass a test, and none after them does. */
function countWhile(array, passes) {
  let low = 0,
    high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(array[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of an increasing array are smaller than x, or at most x. */
const countBelow = (array, x) => countWhile(array, (y) => y < x);
const countUpTo = (array, x) => countWhile(array, (y) => y <= x);

/** Linear interpolation of (xs, ys) at x, flat outside. */
function interpolate(x, xs, ys) {
  const last = xs.length - 1;
  if (x < xs[0]) return ys[0];
  if (x >= xs[last]) return ys[last];
  const j = countUpTo(xs, x) - 1;
  return ys[j] + ((ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j])) * (x - xs[j]);
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
