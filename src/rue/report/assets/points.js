// Which points are deferred: their ids, and their texts or thumbnails where there are any.

const PAGE = 12;

function makePoints() {
  let n = PAGE;
  const draw = () => {
    const run = focused();
    if (!run) return;
    const found = explorer.found.get(run.method);
    const data = ready(run),
      card = cardNow();
    const which = $("which").value;
    const best = found?.optimum?.share,
      own = found?.own?.shares();
    const is = {
      optimum: (i) => best && best[i] < 0.5,
      own: (i) => own && own[i] < 0.5,
      missed: (i) => best && own && best[i] < 0.5 && own[i] >= 0.5,
      needless: (i) => best && own && best[i] >= 0.5 && own[i] < 0.5,
    }[which];
    const rows = [];
    for (let i = 0; i < data.points.n; i++) if (is(i)) rows.push(i);
    rows.sort((a, b) => data.epistemic[b] - data.epistemic[a] || a - b);
    const shares = { optimum: best, own }[which] ?? [];
    const part = shares.reduce((n, share) => n + (share > 0 && share < 1), 0);
    $("points-count").textContent =
      `${count(rows.length)} of ${many(data.points.n, "point")} (${percent(rows.length / data.points.n)}), the largest regret first` +
      (part ? `; ${many(part, "point")} on the boundary, accepted with a probability` : "");
    $("points-key").replaceChildren(...voteLegend(card, run).flat().filter(Boolean));
    $("points").replaceChildren(...rows.slice(0, n).map((i) => item(card, run, data, i)));
    $("more").hidden = rows.length <= n;
  };
  $("which").addEventListener("change", () => {
    n = PAGE;
    draw();
  });
  $("more").addEventListener("click", () => {
    n += 4 * PAGE;
    draw();
  });
  return draw;
}

/** The thumbnail of a point, or null. */
function picture(card, i) {
  if (!card.sprite) return null;
  card.places ??= new Map(card.sprite.rows.map((row, k) => [row, k]));
  const k = card.places.get(i);
  if (k === undefined) return null;
  const { tile, columns } = card.sprite,
    size = 1.5;
  return h("span", {
    class: "thumb",
    role: "img",
    "aria-label": `image ${card.ids[i]}`,
    style: {
      width: `${tile * size}px`,
      height: `${tile * size}px`,
      "background-image": `var(--sprite-${content.data.indexOf(card)})`,
      "background-size": `${columns * tile * size}px`,
      "background-position": `${-(k % columns) * tile * size}px ${-Math.floor(k / columns) * tile * size}px`,
    },
  });
}

function item(card, run, data, i) {
  const number = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, g(value, 3)));
  return h(
    "li",
    { style: { "--c": colourOf(run.method) } },
    picture(card, i),
    h(
      "div",
      { class: "what" },
      card.texts ? h("p", {}, card.texts[i] || "(no text)") : null,
      h("p", { class: "id" }, card.ids[i]),
    ),
    h(
      "dl",
      { class: "numbers" },
      number("E* regret", data.epistemic[i]),
      number("A*", data.aleatoric[i]),
      number("Ê", data.epistemicHat[i]),
      number("Â", data.aleatoricHat[i]),
    ),
    voteBars(card, run, i),
  );
}

/** One image for all thumbnails, named once in the style of the page. */
function placeSprites() {
  content.data.forEach((card, k) => {
    if (card.sprite)
      document.body.style.setProperty(`--sprite-${k}`, `url("${card.sprite.address}")`);
  });
}
