// Data card, method cards, provenance.

const facts = (entries) =>
  h(
    "dl",
    {},
    Object.entries(entries).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );

function drawCards() {
  const card = cardNow();
  const known = [facts(card.facts)];
  const brackets = shownRuns().filter(
    (run) => isNumber(run.row.aurec_low) && isNumber(run.row.aurec_high),
  );
  if (brackets.length)
    known.push(
      h("p", {}, "What finitely many annotators leave open of AuReC: "),
      facts(
        Object.fromEntries(
          brackets.map((run) => [
            run.method,
            `${fixed(run.row.aurec_low, 4)} to ${fixed(run.row.aurec_high, 4)}`,
          ]),
        ),
      ),
    );
  $("data-card").replaceChildren(
    h("h3", {}, card.name),
    h("div", { class: "facts" }, known),
    ...(card.entropy ? [histogram(card.entropy)] : []),
  );
  $("method-cards").replaceChildren(
    ...content.methods.map((method) =>
      h(
        "article",
        { class: "card small", style: { "--c": colourOf(method.name) } },
        h("h3", {}, swatch(method.name), method.name),
        facts(method.facts),
      ),
    ),
  );
}

/** How much annotators disagree: the entropy of their answers, point by point. */
function histogram({ counts, top }) {
  const width = 320,
    height = 96,
    most = Math.max(...counts, 1),
    step = width / counts.length;
  const share = counts[0] / counts.reduce((a, b) => a + b, 0);
  return h(
    "figure",
    {},
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height + 30}`,
        class: "histogram",
        role: "img",
        "aria-label": `Entropy of the annotators' answers from 0 to ${g(top, 3)} nats; ${percent(share, 0)} of points are in the lowest bar.`,
      },
      counts.map((n, k) =>
        svg(
          "rect",
          {
            x: k * step + 0.5,
            width: step - 1,
            y: height - (n / most) * height,
            height: (n / most) * height,
          },
          svg("title", {}, `${count(n)} points`),
        ),
      ),
      svg("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }),
      svg("text", { class: "tick", x: 0, y: height + 16 }, "0: all agree"),
      svg(
        "text",
        { class: "tick", x: width, y: height + 16, "text-anchor": "end" },
        `${g(top, 3)} nats: all answers alike often`,
      ),
    ),
    h("figcaption", {}, "Entropy of the annotators' answers, point by point."),
  );
}

function drawProvenance() {
  const { command, versions, checksums, seeds, notes } = content.provenance;
  const copy = h(
    "button",
    {
      class: "quiet",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(command);
          copy.textContent = "copied";
        } catch {
          getSelection().selectAllChildren($("command"));
          copy.textContent = "selected";
        }
      },
    },
    "copy",
  );
  $("reproduce").replaceChildren(
    command
      ? h("div", { class: "command" }, h("code", { id: "command" }, command), copy)
      : h("p", {}, "Made from Python: rue.report.write_report."),
  );
  $("provenance").replaceChildren(
    h("div", {}, h("h3", {}, "Versions"), facts(versions)),
    h(
      "div",
      {},
      h("h3", {}, seeds.length === 1 ? "Seed" : "Seeds"),
      h("p", {}, seeds.join(", ") || "none"),
    ),
    h("div", { class: "wide" }, h("h3", {}, "Files (SHA-256)"), facts(checksums)),
    ...(notes.length
      ? [
          h(
            "div",
            { class: "wide" },
            h("h3", {}, "Notes"),
            h(
              "ul",
              {},
              notes.map((n) => h("li", {}, n)),
            ),
          ),
        ]
      : []),
  );
}
