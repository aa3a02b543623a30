// The surfaces in three dimensions, drawn on a canvas from the back to the front.

const ACROSS = 13;

/** Every level at as many points, along its front. */
function ribbon(all) {
  return all.map((level) =>
    Array.from({ length: ACROSS }, (_, k) => {
      const place = (k / (ACROSS - 1)) * (level.length - 1);
      const i = Math.floor(place),
        t = place - i,
        next = level[Math.min(i + 1, level.length - 1)];
      return level[i].map((x, j) => x + t * (next[j] - x));
    }),
  );
}

function drawRibbons(canvas, host) {
  const run = focused();
  const width = host.clientWidth,
    height = clamp(width * 0.8, 260, 400);
  if (!run || !width) return;
  const context = sharp(canvas, width, height);
  // Per accepted point the first levels, of hardly any, would be all noise, and of none nothing.
  const some = levels(run, "optimal").findIndex((level) => level[0][0] > 0);
  const first = view.spread ? Math.max(4, some) : 0,
    at = Math.max(view.level - first, 0);
  const unit = ([c, risk, regret]) => (view.spread ? [c, risk / c, regret / c] : [c, risk, regret]);
  const grid = (name) => ribbon(levels(run, name).slice(first)).map((level) => level.map(unit));
  const surfaces = [
    { grid: grid("achievable"), colour: css(`--m${styleOf(run.method).colour}`) },
    { grid: grid("optimal"), colour: css("--ink") },
  ];
  const lots = view.spread ? [0.1, run.all.risk, run.all.regret] : [0, 0, 0];
  const all = [...surfaces.flatMap((s) => s.grid.flat()), [1, run.all.risk, run.all.regret]];
  const top = [0, 1, 2].map((j) => Math.max(...all.map((p) => p[j])) || 1);
  const low = [0, view.spread ? Math.min(...all.map((p) => p[1])) : 0, 0];
  const [cy, sy, cp, sp] = [
    Math.cos(view.yaw),
    Math.sin(view.yaw),
    Math.cos(view.pitch),
    Math.sin(view.pitch),
  ];

  /** Before scaling: coverage runs to the right, regret away from the reader, risk up. */
  function turned([coverage, risk, regret]) {
    const [x, y, z] = [coverage, risk, regret].map(
      (v, j) => (v - low[j]) / (top[j] - low[j] || 1) - 0.5,
    );
    const [u, v] = [x * cy - z * sy, x * sy + z * cy];
    const depth = v * cp - y * sp,
      near = 1 / (1 + 0.18 * depth);
    return [u * near, -(y * cp + v * sp) * near, depth];
  }
  const box = [0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
    turned([k & 1 ? top[0] : 0, k & 2 ? top[1] : low[1], k & 4 ? top[2] : 0]),
  );
  const ends = [0, 1].map((j) => [
    Math.min(...box.map((p) => p[j])),
    Math.max(...box.map((p) => p[j])),
  ]);
  const scale = Math.min(
    (width - 110) / (ends[0][1] - ends[0][0]),
    (height - 76) / (ends[1][1] - ends[1][0]),
  );
  const middle = ends.map(([a, b]) => (a + b) / 2);
  const project = (point) => {
    const [x, y, depth] = turned(point);
    return [
      width / 2 + (x - middle[0]) * scale,
      (height - 14) / 2 + (y - middle[1]) * scale,
      depth,
    ];
  };

  const ink = css("--ink-2"),
    rule = css("--rule");
  const stroke = (points, colour, lineWidth, dash = []) => {
    context.beginPath();
    points.map(project).forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.setLineDash(dash);
    context.stroke();
  };
  const floor = low[1];
  for (const k of [0, 0.25, 0.5, 0.75, 1]) {
    stroke(
      [
        [k * top[0], floor, 0],
        [k * top[0], floor, top[2]],
      ],
      rule,
      1,
    );
    stroke(
      [
        [0, floor, k * top[2]],
        [top[0], floor, k * top[2]],
      ],
      rule,
      1,
    );
  }
  context.font = `11px ${css("--font")}`;
  context.fillStyle = ink;
  context.textAlign = "center";
  const write = (text, at, dx, dy) => {
    const [x, y] = project(at);
    context.fillText(text, x + dx, y + dy);
  };
  const corners = [
    [0, 0],
    [top[0], 0],
    [0, top[2]],
    [top[0], top[2]],
  ];
  const [cx, cz] = corners.reduce((a, b) =>
    project([b[0], floor, b[1]])[0] < project([a[0], floor, a[1]])[0] ? b : a,
  );
  const front = (a, b) => (project(a)[2] <= project(b)[2] ? a : b);
  const zFront = front([top[0] / 2, floor, 0], [top[0] / 2, floor, top[2]])[2];
  const xFront = front([0, floor, top[2] / 2], [top[0], floor, top[2] / 2])[0];
  if (cp > 0.15) {
    stroke(
      [
        [cx, floor, cz],
        [cx, top[1], cz],
      ],
      ink,
      1,
    );
    for (const t of ticks(floor, top[1], 4)) write(g(t, 3), [cx, t, cz], -20, 4);
    write("risk", [cx, top[1], cz], 0, -10);
  }
  stroke(
    [
      [0, floor, zFront],
      [top[0], floor, zFront],
    ],
    ink,
    1,
  );
  stroke(
    [
      [xFront, floor, 0],
      [xFront, floor, top[2]],
    ],
    ink,
    1,
  );
  if (Math.abs(cy) > 0.15) {
    for (const t of [0, 0.25, 0.5, 0.75, 1]) write(g(t, 3), [t * top[0], floor, zFront], 0, 16);
    write(
      "coverage",
      [top[0] * 0.5, floor, zFront],
      Math.abs(sy) > 0.1 && sp > 0.08 ? 40 * Math.sign(sy * cy) : 0,
      33,
    );
  }
  if (Math.abs(sy) > 0.15 || sp > 0.15) {
    const right = project([xFront, floor, top[2] / 2])[0] > width / 2 - 1;
    for (const t of ticks(0, top[2], 4).slice(1))
      write(g(t, 3), [xFront, floor, t], right ? 18 : -18, 12);
    write("regret", [xFront, floor, top[2] * 0.5], right ? 44 : -44, 26);
  }
  stroke([lots, [1, run.all.risk, run.all.regret]], ink, 1.2, [2, 4]);

  const quads = [];
  for (const { grid, colour } of surfaces)
    for (let i = 0; i + 1 < grid.length; i++)
      for (let k = 0; k + 1 < ACROSS; k++) {
        const corner = [grid[i][k], grid[i + 1][k], grid[i + 1][k + 1], grid[i][k + 1]].map(
          project,
        );
        quads.push({ corner, colour, depth: corner.reduce((s, c) => s + c[2], 0) });
      }
  quads.sort((a, b) => b.depth - a.depth);
  context.setLineDash([]);
  for (const { corner, colour } of quads) {
    context.beginPath();
    corner.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.globalAlpha = 0.28;
    context.fillStyle = colour;
    context.fill();
  }
  context.globalAlpha = 1;
  for (const { grid, colour } of surfaces)
    for (const edge of [0, ACROSS - 1])
      stroke(
        grid.map((level) => level[edge]),
        colour,
        1.8,
      );
  for (const { grid, colour } of surfaces) {
    stroke(grid[at], css("--card"), 6);
    stroke(grid[at], colour, 3);
    if (grid[at].length) {
      const [x, y] = project(grid[at][0]);
      context.beginPath();
      context.arc(x, y, 3, 0, 7);
      context.fillStyle = colour;
      context.fill();
    }
  }
}
