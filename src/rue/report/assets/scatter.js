// Aleatoric against epistemic: as estimated and as realised, with the chosen rule as a line.

const DRAWN = 2000;

function makeScatter() {
  const panels = ["scatter-hat", "scatter-star"].map((id) => ({
    canvas: $(id),
    host: $(id).parentElement,
  }));
  const tip = $("scatter-tip");
  let at = -1;
  const draw = oncePerFrame(drawBoth);

  function drawBoth() {
    const run = focused();
    if (!run) return;
    const data = ready(run),
      found = explorer.found.get(run.method);
    if (!found) return;
    const drawn = Math.min(data.points.n, DRAWN);
    const sample = Array.from({ length: drawn }, (_, k) => Math.floor((k * data.points.n) / drawn));
    const sides = [
      {
        x: data.aleatoricHat,
        y: data.epistemicHat,
        rule: found.own && [...found.own.weights, found.own.tau],
        share: found.own?.shares(),
      },
      {
        x: data.aleatoric,
        y: data.epistemic,
        rule: found.optimum && [1 - found.optimum.lam, found.optimum.lam, found.optimum.tau],
        share: found.optimum?.share,
      },
    ];
    let outside = 0;
    panels.forEach((panel, k) => (outside += drawPanel(panel, sides[k], sample, run, at)));
    $("scatter-note").textContent =
      (drawn < data.points.n
        ? `${count(drawn)} of ${count(data.points.n)} points are drawn. `
        : "") +
      (outside ? `Axes end at the 99.5th percentile; ${count(outside)} marks lie outside. ` : "") +
      "Filled points are accepted, hollow ones deferred; the line is the rule in force above.";
  }

  panels.forEach((panel) => {
    whenResized(panel.host, draw);
    panel.canvas.addEventListener("pointermove", (event) => {
      if (!panel.X) return;
      const box = panel.canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      let best = -1,
        least = 18 ** 2;
      for (const i of panel.rows) {
        const distance = (panel.X(i) - px) ** 2 + (panel.Y(i) - py) ** 2;
        if (distance < least) [best, least] = [i, distance];
      }
      if (best !== at) {
        at = best;
        draw();
      }
      tip.hidden = at < 0;
      if (at < 0) return;
      const outer = tip.parentElement.getBoundingClientRect();
      const x = event.clientX - outer.left;
      tip.replaceChildren(...describe(at));
      tip.style.left = `${clamp(x + 14, 0, Math.max(outer.width - 250, 0))}px`;
      tip.style.top = `${event.clientY - outer.top + 14}px`;
    });
    panel.canvas.addEventListener("pointerleave", () => {
      at = -1;
      tip.hidden = true;
      draw();
    });
  });
  return draw;
}

function describe(i) {
  const card = cardNow(),
    data = ready(focused());
  return [
    h("div", { class: "tip-head" }, card.ids[i]),
    card.texts && h("div", { class: "tip-text" }, card.texts[i]),
    picture(card, i),
    h(
      "div",
      { class: "tip-row" },
      h("span", {}, "realised A*, E*"),
      h("b", {}, `${g(data.aleatoric[i], 3)}, ${g(data.epistemic[i], 3)}`),
    ),
    h(
      "div",
      { class: "tip-row" },
      h("span", {}, "estimated Â, Ê"),
      h("b", {}, `${g(data.aleatoricHat[i], 3)}, ${g(data.epistemicHat[i], 3)}`),
    ),
  ].filter(Boolean);
}

/** The interval that nearly all values lie in. */
function rangeOf(values) {
  const ranked = Float64Array.from(values).sort(),
    n = ranked.length;
  let low = ranked[Math.floor(0.005 * (n - 1))],
    high = ranked[Math.ceil(0.995 * (n - 1))];
  if (isOne(low, high)) [low, high] = [ranked[0], ranked[n - 1]];
  if (isOne(low, high)) return low >= 0 ? [0, 2 * low || 1] : [2 * low, 0];
  if (low >= 0 && low < 0.35 * high) low = 0;
  else low -= 0.05 * (high - low);
  return [low, high + 0.03 * (high - low)];
}

function drawPanel(panel, { x, y, rule, share }, sample, run, at) {
  const width = panel.host.clientWidth,
    height = clamp(width * 0.78, 230, 360);
  if (!width) return 0;
  const context = sharp(panel.canvas, width, height);
  const m = { top: 10, right: 10, bottom: 36, left: 58 };
  const [x0, x1] = rangeOf(x),
    [y0, y1] = rangeOf(y);
  const toX = (v) => m.left + ((v - x0) / (x1 - x0)) * (width - m.left - m.right);
  const toY = (v) => height - m.bottom - ((v - y0) / (y1 - y0)) * (height - m.top - m.bottom);
  context.font = `11px ${css("--font")}`;
  context.fillStyle = css("--ink-2");
  context.strokeStyle = css("--rule");
  context.textAlign = "right";
  for (const t of ticks(y0, y1, 5)) {
    context.beginPath();
    context.moveTo(m.left, toY(t));
    context.lineTo(width - m.right, toY(t));
    context.stroke();
    context.fillText(g(t, 3), m.left - 6, toY(t) + 4);
  }
  context.textAlign = "center";
  for (const t of ticks(x0, x1, Math.min(6, width / 70)))
    context.fillText(g(t, 3), toX(t), height - m.bottom + 15);
  context.fillText("aleatoric", (m.left + width - m.right) / 2, height - 4);
  context.save();
  context.translate(11, (m.top + height - m.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText("epistemic", 0, 0);
  context.restore();

  const colour = css(`--m${styleOf(run.method).colour}`),
    pale = css("--ink-3");
  const rows = [];
  let outside = 0;
  for (const i of sample) {
    if (x[i] > x1 || y[i] > y1 || x[i] < x0 || y[i] < y0) outside++;
    else rows.push(i);
  }
  context.lineWidth = 1;
  const dots = [dot(pale, false), dot(colour, true)];
  for (const i of rows) {
    const accepted = share ? share[i] >= 0.5 : true;
    context.drawImage(dots[Number(accepted)], toX(x[i]) - 4, toY(y[i]) - 4, 8, 8);
  }
  context.globalAlpha = 1;
  if (rule && Number.isFinite(rule[2]) && (rule[0] || rule[1])) {
    const [w1, w2, tau] = rule;
    context.save();
    context.beginPath();
    context.rect(m.left, m.top, width - m.left - m.right, height - m.top - m.bottom);
    context.clip();
    context.beginPath();
    if (Math.abs(w2) * (y1 - y0) > Math.abs(w1) * (x1 - x0)) {
      context.moveTo(toX(x0), toY((tau - w1 * x0) / w2));
      context.lineTo(toX(x1), toY((tau - w1 * x1) / w2));
    } else {
      context.moveTo(toX((tau - w2 * y0) / w1), toY(y0));
      context.lineTo(toX((tau - w2 * y1) / w1), toY(y1));
    }
    context.strokeStyle = css("--card");
    context.lineWidth = 5;
    context.stroke();
    context.strokeStyle = css("--ink");
    context.lineWidth = 2;
    context.stroke();
    context.restore();
  }
  if (at >= 0) {
    context.beginPath();
    context.arc(toX(x[at]), toY(y[at]), 6, 0, 7);
    context.strokeStyle = css("--ink");
    context.lineWidth = 2;
    context.stroke();
  }
  Object.assign(panel, { X: (i) => toX(x[i]), Y: (i) => toY(y[i]), rows });
  panel.canvas.setAttribute(
    "aria-label",
    panel.canvas.dataset.name +
      (share
        ? `: ${count(share.filter((s) => s >= 0.5).length)} of ${count(share.length)} points are accepted`
        : ""),
  );
  return outside;
}

/** A point, drawn once and stamped many times: filled where accepted, hollow where deferred. */
function dot(colour, filled) {
  const stamp = document.createElement("canvas");
  const context = sharp(stamp, 8, 8);
  context.beginPath();
  context.arc(4, 4, 2.4, 0, 7);
  context.globalAlpha = filled ? 0.5 : 0.7;
  context.fillStyle = context.strokeStyle = colour;
  if (filled) context.fill();
  else context.stroke();
  return stamp;
}
