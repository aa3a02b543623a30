// Boards, filters, settings: put the page together.

const content = JSON.parse($("content").textContent);
const ALL = "";
const state = {
  data: ALL,
  loss: ALL,
  regime: ALL,
  criterion: content.criteria[0].key,
  verified: false,
  every: false, // whether all columns are shown
};
const sorting = { key: "rank", down: false };

const RANK = {
  key: "rank",
  title: "rank",
  meaning: "The rank by the chosen criterion among the verified rows of the chosen regime.",
};
const FIRST = {
  key: "first",
  title: "P(first)",
  meaning:
    "The probability of rank 1, from 2,000 bootstrap samples of the test points, the same for all rows. The bars are the probabilities of ranks 1, 2 and so on.",
};
const METHOD = { key: "method", title: "method", meaning: "The name that the submission gives." };

function change(changes) {
  Object.assign(state, changes);
  keepingFocus(draw);
}

const boardsNow = () =>
  content.boards.filter(
    (board) => [ALL, board.data].includes(state.data) && [ALL, board.loss].includes(state.loss),
  );

/** The rows that the filters leave, each with its place on the board. */
const rowsOf = (board) =>
  board.rows
    .map((row, place) => ({ ...row, place }))
    .filter((row) => [ALL, row.regime].includes(state.regime) && !(state.verified && row.problem));

function columnsOf(rows) {
  return content.columns.filter(
    (column) =>
      (state.every || column.main || column.key === state.criterion) &&
      rows.some((row) => isNumber(row.row[column.key])),
  );
}

function drawBoard(board, k) {
  const rows = rowsOf(board);
  if (!rows.length) return null;
  const ranking = board.rankings[state.regime]?.[state.criterion] ?? null;
  const ranks = ranking ? ranksOf(ranking, board.rows) : new Map();
  const columns = columnsOf(rows);
  const counted = rows.filter((row) => !row.problem); // what is not verified cannot be best
  const marks = Object.fromEntries(columns.map((column) => [column.key, places(column, counted)]));
  const sortBy = (key, down) => {
    Object.assign(sorting, { key, down });
    draw();
    $(`board-${k}`).querySelector(`[data-key="${key}"] button`).focus();
  };
  const head = [METHOD, RANK, FIRST, ...columns].map((column) =>
    header(column, sorting, sortBy, `tip-${k}-${column.key}`),
  );
  const body = sorted(rows, ranks, ranking).map((row) =>
    h(
      "tr",
      { class: row.problem ? "is-out" : "" },
      h("th", { scope: "row" }, nameOf(row)),
      h("td", { class: "rank" }, ranks.has(row.place) ? String(ranks.get(row.place)) : "–"),
      first(chances(ranking, row.place)),
      columns.map((column) =>
        cell(column, row, row.problem ? [] : marks[column.key], row.problem ? [] : counted),
      ),
    ),
  );
  const facts = Object.entries(board.facts).map(([name, text]) =>
    name.startsWith("checksum") ? `${name} ${text.slice(0, 12)}…` : `${name}: ${text}`,
  );
  return h(
    "section",
    { class: "board", id: `board-${k}`, "aria-labelledby": `h-board-${k}` },
    h("h2", { id: `h-board-${k}` }, h("span", {}, board.data), `, ${lossName(board.loss)} loss`),
    ranking && h("p", { class: "lead" }, ranking.sentence),
    h("p", { class: "board-facts" }, facts.join(" · ")),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `${board.data}, scrolls sideways` },
      h(
        "table",
        {},
        h("caption", { class: "sr" }, `${board.data}, ${lossName(board.loss)} loss`),
        h("thead", {}, h("tr", {}, head)),
        h("tbody", {}, body),
      ),
    ),
  );
}

function first(found) {
  return found
    ? h(
        "td",
        {},
        h("span", { class: "number" }, percent(found.first, 0), strip(found)),
        h("span", { class: "interval" }, `expected rank ${g(found.expected, 3)}`),
      )
    : h("td", {}, "–");
}

function nameOf(row) {
  const seeds = row.seeds.length > 1 ? `mean of ${row.seeds.length} seeds` : null;
  return [
    h("span", { class: "method-name" }, row.method),
    h(
      "span",
      { class: "tags" },
      h(
        "span",
        { class: row.problem ? "badge no" : "badge ok" },
        row.problem ? "not verified" : "verified",
      ),
      h("span", { class: "badge regime", title: `regime ${row.regime}` }, row.regime),
      h("a", { href: `#settings-${row.settings}`, title: seeds }, "settings"),
    ),
    row.problem && h("span", { class: "why" }, row.problem),
    row.note && h("span", { class: "why note" }, row.note),
  ];
}

function sorted(rows, ranks, ranking) {
  const value = (row) =>
    ({
      rank: () => ranks.get(row.place),
      first: () => chances(ranking, row.place)?.first,
      method: () => row.method,
    })[sorting.key]?.() ?? row.row[sorting.key];
  const compare = comparing(value, sorting.down);
  const out = (row) => Boolean(row.problem); // what is not verified stands below
  return [...rows].sort((a, b) => out(a) - out(b) || compare(a, b));
}

function draw() {
  const shown = boardsNow().map((board) => drawBoard(board, content.boards.indexOf(board)));
  $("boards").replaceChildren(...shown.filter(Boolean));
  $("nothing").hidden = shown.some(Boolean);
  document.body.dataset.ready = "yes";
}

function makeFilters() {
  const fill = (id, key, names, text = (name) => name) => {
    const select = $(id);
    for (const name of names) select.append(h("option", { value: name }, text(name)));
    select.value = state[key];
    select.addEventListener("change", () => change({ [key]: select.value }));
  };
  const either = (names, all) => (name) => (name === ALL ? all : names(name));
  const own = (key) => [ALL, ...new Set(content.boards.map((board) => board[key]))];
  const regimes = new Set(content.boards.flatMap((b) => b.rows.map((row) => row.regime)));
  fill("pick-data", "data", own("data"), either(String, "all data sets"));
  fill("pick-loss", "loss", own("loss"), either(lossName, "all losses"));
  fill("pick-regime", "regime", [ALL, ...regimes], either(String, "all regimes"));
  const titles = new Map(content.criteria.map(({ key, title }) => [key, title]));
  fill("pick-criterion", "criterion", [...titles.keys()], (key) => titles.get(key));
  const tick = (id, key) =>
    $(id).addEventListener("change", (event) => change({ [key]: event.target.checked }));
  tick("verified-only", "verified");
  tick("all-columns", "every");
}

function drawSettings() {
  $("settings-cards").replaceChildren(
    ...content.settings.map((card, k) =>
      h(
        "div",
        { class: "card", id: `settings-${k}` },
        h(
          "h3",
          {},
          h("span", { class: "method-name" }, card.method),
          h("span", { class: "badge regime" }, card.regime),
        ),
        h("p", {}, `submitted as ${card.source}`),
        card.link && h("p", {}, h("a", { href: card.link, rel: "noopener noreferrer" }, card.link)),
        Object.keys(card.facts).length
          ? h("dl", {}, Object.entries(card.facts).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))
          : h("p", {}, "It states no settings."),
      ),
    ),
  );
}

function drawRefused() {
  const list = content.refused;
  $("refused").replaceChildren(
    ...list.map(({ folder, reason }) =>
      h("li", {}, h("b", {}, folder), `: ${reason.replace(`${folder}: `, "")}`),
    ),
  );
  $("refused-section").hidden = $("to-refused").hidden = !list.length;
}

function main() {
  const rows = content.boards.flatMap((board) => board.rows);
  const distinct = (key) => new Set(content.boards.map((board) => board[key])).size;
  $("subtitle").textContent = [
    many(rows.length, "row"),
    `${count(rows.filter((row) => !row.problem).length)} verified`,
    many(distinct("data"), "data set"),
    `${distinct("loss")} ${distinct("loss") === 1 ? "loss" : "losses"}`,
  ].join(" · ");
  $("command").textContent = content.command;
  $("version").textContent = `rue ${content.version}`;
  makeFilters();
  drawSettings();
  drawRefused();
  makeTheme(draw);
  draw();
}

// For scripts that want the page's own numbers.
window.rue = { content, state, change };
main();
