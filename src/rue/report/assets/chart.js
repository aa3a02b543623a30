// A line chart in SVG with values on hover, on touch and by the arrow keys.

const MARGIN = { top: 12, right: 14, bottom: 38, left: 50 };

/**
 * Make a chart that draws what `tell()` gives:
 *
 * {title, x: {label, low, high, show}, y: {...}, series: [{name, colour, dash, width, faint, x, y,
 *  marks}], band: [{x, y}, {x, y}], bandColour, points: [{x, y, colour, label}],
 *  stops: [{x, y, head, rows: [[name, value]]}]}
 *
 * With `cursor` a value of x is read off all series, or the nearest of the stops if there are any;
 * otherwise nothing is read.
 */
function chart(host, tell, { height = 280, cursor = true, left = MARGIN.left } = {}) {
  const margin = { ...MARGIN, left };
  const picture = svg("svg", { class: "chart" });
  const tip = h("div", { class: "tip", hidden: true });
  host.classList.add("chart-host");
  host.append(picture, tip);
  let drawn = null,
    at = null;

  function draw() {
    const width = host.clientWidth;
    if (!width) return;
    const what = tell();
    const size = typeof height === "function" ? height(width) : height;
    const inner = { w: width - margin.left - margin.right, h: size - margin.top - margin.bottom };
    const X = (x) => margin.left + ((x - what.x.low) / (what.x.high - what.x.low || 1)) * inner.w;
    const Y = (y) =>
      margin.top + inner.h - ((y - what.y.low) / (what.y.high - what.y.low || 1)) * inner.h;
    drawn = { what, X, Y, inner, size, width };
    picture.setAttribute("viewBox", `0 0 ${width} ${size}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", size);
    const body = svg("g", {});
    for (const t of ticks(what.y.low, what.y.high, Math.max(3, inner.h / 45)))
      body.append(
        svg("line", {
          class: "grid",
          x1: margin.left,
          x2: width - margin.right,
          y1: Y(t),
          y2: Y(t),
        }),
        svg(
          "text",
          { class: "tick", x: margin.left - 7, y: Y(t) + 4, "text-anchor": "end" },
          g(t, 4),
        ),
      );
    for (const t of ticks(what.x.low, what.x.high, Math.max(3, Math.min(6, inner.w / 70))))
      body.append(
        svg("line", {
          class: "stub",
          x1: X(t),
          x2: X(t),
          y1: margin.top + inner.h,
          y2: margin.top + inner.h + 4,
        }),
        svg(
          "text",
          { class: "tick", x: X(t), y: margin.top + inner.h + 17, "text-anchor": "middle" },
          g(t, 4),
        ),
      );
    body.append(
      svg("line", {
        class: "axis",
        x1: margin.left,
        x2: width - margin.right,
        y1: margin.top + inner.h,
        y2: margin.top + inner.h,
      }),
      svg(
        "text",
        { class: "label", x: margin.left + inner.w / 2, y: size - 4, "text-anchor": "middle" },
        what.x.label,
      ),
    );
    if (what.y.label)
      body.append(
        svg(
          "text",
          {
            class: "label",
            transform: `translate(12 ${margin.top + inner.h / 2}) rotate(-90)`,
            "text-anchor": "middle",
          },
          what.y.label,
        ),
      );
    if (what.band) {
      const [low, high] = what.band.map(({ x, y }) =>
        Array.from(x, (v, i) => `${X(v)},${Y(y[i])}`),
      );
      const points = [...low, ...high.reverse()].join(" ");
      const style = what.bandColour ? { fill: what.bandColour, opacity: 0.22 } : {};
      body.append(svg("polygon", { class: "band", points, style }));
    }
    const clip = `clip-${host.id}`;
    body.append(
      svg(
        "clipPath",
        { id: clip },
        svg("rect", {
          x: margin.left - 5,
          y: margin.top - 5,
          width: inner.w + 10,
          height: inner.h + 10,
        }),
      ),
    );
    const lines = svg("g", { "clip-path": `url(#${clip})` });
    for (const line of what.series) {
      const path = Array.from(
        line.x,
        (x, i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(line.y[i]).toFixed(1)}`,
      ).join("");
      lines.append(
        svg("path", {
          class: "line" + (line.faint ? " faint" : ""),
          d: path,
          "stroke-dasharray": line.dash || null,
          "stroke-width": line.width ?? 2,
          style: { stroke: line.colour },
          "data-series": line.name,
        }),
      );
      if (line.label) {
        const room = X(line.x[0]) - 8 - margin.left > 7 * line.label.length;
        lines.append(
          svg(
            "text",
            {
              class: "tick",
              x: X(line.x[0]) + (room ? -8 : 4),
              y: Y(line.y[0]) + (room ? 4 : -8),
              "text-anchor": room ? "end" : "start",
              style: { fill: line.colour, "font-weight": line.faint ? 400 : 650 },
            },
            line.label,
          ),
        );
      }
      if (line.marks)
        line.x.forEach((x, i) =>
          lines.append(
            svg("circle", {
              cx: X(x),
              cy: Y(line.y[i]),
              r: line.faint ? 2.6 : 3.4,
              class: line.faint ? "faint" : "",
              style: { fill: line.colour },
            }),
          ),
        );
    }
    for (const point of what.points ?? [])
      lines.append(
        svg("path", {
          d: `M${X(point.x) - 5} ${Y(point.y) - 5}l10 10m0 -10l-10 10`,
          class: "cross",
          style: { stroke: point.colour },
        }),
        svg(
          "text",
          {
            class: "tick",
            x: X(point.x) + (point.x > (what.x.low + what.x.high) / 2 ? -9 : 9),
            y: Y(point.y) - 8,
            "text-anchor": point.x > (what.x.low + what.x.high) / 2 ? "end" : "start",
          },
          point.label,
        ),
      );
    picture.replaceChildren(body, lines, svg("g", { class: "cursor" }));
    picture.setAttribute("aria-label", what.title);
    if (cursor) {
      picture.setAttribute("tabindex", "0");
      picture.setAttribute("role", "slider");
      picture.setAttribute("aria-valuemin", "0");
      picture.setAttribute("aria-valuemax", "100");
    } else picture.setAttribute("role", "img");
    if (at !== null) read(at);
    else if (cursor) say(readable(0.5 * (what.x.low + what.x.high)));
  }

  /** What is read at x: {x, head, rows: [{name, value, colour, y}]}. */
  function readable(x) {
    const { what } = drawn;
    if (what.stops) {
      const stop = what.stops[nearestStop(x)];
      return {
        x: stop.x,
        head: stop.head,
        rows: stop.rows.map(([name, value]) => ({ name, value })),
        dots: [{ y: stop.y, colour: what.bandColour }],
      };
    }
    const rows = valuesAt(x).map(({ line, y }) => ({
      name: line.name,
      value: g(y, 4),
      colour: line.colour,
      y,
    }));
    return { x, head: `${what.x.label} ${g(x, 3)}`, rows, dots: rows };
  }

  function nearestStop(x) {
    const away = drawn.what.stops.map((stop) => Math.abs(stop.x - x));
    return away.indexOf(Math.min(...away));
  }

  function valuesAt(x) {
    return drawn.what.series
      .filter((line) => !line.silent)
      .map((line) => ({ line, y: interpolate(x, line.x, line.y) }))
      .sort((a, b) => b.y - a.y);
  }

  function say({ x, head, rows }) {
    const { what } = drawn;
    picture.setAttribute(
      "aria-valuenow",
      Math.round((100 * (x - what.x.low)) / (what.x.high - what.x.low)),
    );
    const found = rows.map(({ name, value }) => `${name} ${value}`);
    picture.setAttribute("aria-valuetext", `${head}: ${found.join(", ")}`);
  }

  function read(x) {
    const { what, X, Y, inner, width } = drawn;
    const found = readable(clamp(x, what.x.low, what.x.high));
    at = found.x;
    picture
      .querySelector(".cursor")
      .replaceChildren(
        svg("line", { x1: X(at), x2: X(at), y1: margin.top, y2: margin.top + inner.h }),
        ...found.dots.map(({ y, colour }) =>
          svg("circle", { cx: X(at), cy: Y(y), r: 3.5, style: { fill: colour } }),
        ),
      );
    tip.replaceChildren(
      h("div", { class: "tip-head" }, found.head),
      ...found.rows.map(({ name, value, colour }) =>
        h(
          "div",
          { class: "tip-row" },
          colour && h("span", { class: "swatch", style: { "--c": colour } }),
          h("span", {}, name),
          h("b", {}, value),
        ),
      ),
    );
    tip.hidden = false;
    const right = X(at) > width / 2;
    tip.style.left = right ? "auto" : `${X(at) + 12}px`;
    tip.style.right = right ? `${width - X(at) + 12}px` : "auto";
    say(found);
  }

  function leave() {
    at = null;
    tip.hidden = true;
    picture.querySelector(".cursor")?.replaceChildren();
  }

  if (cursor) {
    picture.addEventListener("pointermove", (event) => {
      if (!drawn) return;
      const { what, inner } = drawn;
      const x = event.clientX - picture.getBoundingClientRect().left - margin.left;
      read(what.x.low + (x / inner.w) * (what.x.high - what.x.low));
    });
    picture.addEventListener("pointerleave", leave);
    picture.addEventListener("blur", leave);
    picture.addEventListener("keydown", (event) => {
      const { what } = drawn,
        span = what.x.high - what.x.low;
      const moves = {
        ArrowLeft: -0.01,
        ArrowRight: 0.01,
        ArrowDown: -0.01,
        ArrowUp: 0.01,
        PageUp: 0.1,
        PageDown: -0.1,
      };
      if (event.key === "Escape") leave();
      else if (event.key === "Home") read(what.x.low);
      else if (event.key === "End") read(what.x.high);
      else if (event.key in moves && what.stops) {
        const step = Math.sign(moves[event.key]);
        const next = at === null ? nearestStop(what.x.low + span / 2) : nearestStop(at) + step;
        read(what.stops[clamp(next, 0, what.stops.length - 1)].x);
      } else if (event.key in moves)
        read((at ?? what.x.low + span / 2) + moves[event.key] * span);
      else return;
      event.preventDefault();
    });
  }
  whenResized(host, draw);
  return draw;
}
