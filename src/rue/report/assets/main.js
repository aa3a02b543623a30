// Put the page together.

function makeToolbar() {
  const fill = (id, names, key, text) => {
    const select = $(id);
    names.forEach((name) => select.append(h("option", { value: name }, text(name))));
    select.addEventListener("change", () => change({ [key]: select.value }));
    select.closest("label").hidden = names.length < 2;
  };
  fill(
    "pick-data",
    content.data.map((card) => card.name),
    "data",
    (name) => name,
  );
  fill(
    "pick-loss",
    [...new Set(content.runs.map((run) => run.loss))],
    "loss",
    (name) => `${lossName(name)} loss`,
  );
}

function drawToolbar() {
  $("pick-data").value = state.data;
  const here = new Set(content.runs.filter((run) => run.data === state.data).map((run) => run.loss));
  for (const option of $("pick-loss").options) option.disabled = !here.has(option.value);
  $("pick-loss").value = state.loss;
  $("chips").replaceChildren(
    ...runsNow().map((run) =>
      h(
        "button",
        {
          class: "chip",
          "aria-pressed": isShown(run),
          style: { "--c": colourOf(run.method) },
          title: `${isShown(run) ? "hide" : "show"} ${run.method}`,
          onclick: () => {
            const hidden = new Set(state.hidden);
            if (!hidden.delete(run.method)) hidden.add(run.method);
            if (runsNow().some((r) => !hidden.has(r.method))) change({ hidden });
          },
        },
        swatch(run.method),
        h("span", {}, run.method),
      ),
    ),
  );
  $("focus").replaceChildren(
    ...drawnRuns().map((run) => h("option", { value: run.method }, run.method)),
  );
  $("focus").value = focused()?.method ?? "";
  const card = cardNow(),
    n = runsNow().length;
  $("subtitle").textContent = [
    many(n, "method"),
    many(card.nPoints, "point"),
    card.nClasses && `${count(card.nClasses)} classes`,
    `${lossName(state.loss)} loss`,
  ]
    .filter(Boolean)
    .join(" · ");
}

async function main() {
  await unpack();
  placeSprites();
  makeToolbar();
  $("focus").addEventListener("change", (event) => change({ focus: event.target.value }));
  const drawRanks = makeRanks();
  $("all-columns").addEventListener("change", () => [drawLeaderboard(), drawRanks()]);
  onChange(drawToolbar);
  onChange(drawSummary);
  onChange(drawLeaderboard);
  onChange(makeCurves());
  onChange(makeCalibration(CALIBRATION));
  onChange(makeCalibration(AGREEMENT));
  onChange(makeSurfaces());
  onChange(makeExplorer());
  onChange(drawRanks);
  onChange(drawCards);
  drawProvenance();
  change({ all: true });
  makeTheme(() => change({}));
}

// For scripts that want the page's own numbers.
window.rue = { content, state, change, ready, optimalSelector, explorer, problemNow };
main();
