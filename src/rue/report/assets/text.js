// Numbers and words as text.

/** A number with so many significant digits, as Python's %g prints it. */
function g(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  const trim = (s) => (s.includes(".") ? s.replace(/\.?0+$/, "") : s);
  if (power < -4 || power >= digits) {
    const size = String(Math.abs(power)).padStart(2, "0");
    return `${trim(mantissa)}e${power < 0 ? "-" : "+"}${size}`;
  }
  return trim(x.toFixed(Math.max(digits - 1 - power, 0)));
}

/** A number with fixed decimals, as rue's tables print it: none is lost in zeros. */
function fixed(x, digits) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x !== 0 && Math.abs(x) < 10 ** (1 - digits)) return x.toExponential(digits - 2);
  return x.toFixed(digits);
}

/** A name within a sentence: its letters may run from right to left, the sentence's may not. */
const isolated = (name) => `\u2068${name}\u2069`;

const percent = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;
const many = (n, word, words = `${word}s`) => `${count(n)} ${n === 1 ? word : words}`;
const count = (n) => n.toLocaleString("en-US");

const lossName = (loss) =>
  ({
    log: "log",
    brier: "Brier",
    zero_one: "0/1",
    squared: "squared",
    absolute: "absolute",
    cost: "cost",
  })[loss] ?? loss;
