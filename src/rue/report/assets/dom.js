// Making elements. Whatever a user wrote is only ever set as text, never parsed.

function make(space, tag, attributes, children) {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    const state = name.startsWith("aria-"); // there false is a value
    if (value === null || value === undefined || (value === false && !state)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(name, value === true && !state ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false),
  );
  return element;
}

const h = (tag, attributes, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes, ...children) =>
  make("http://www.w3.org/2000/svg", tag, attributes, children);
const $ = (id) => document.getElementById(id);

/** The value of a colour or other variable of the style sheet, for canvases. */
const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

/** Draw, and leave the focus on the button that takes the place of the one that had it. */
function keepingFocus(draw) {
  const held = document.activeElement,
    host = held.closest("[id]:not(button)"),
    place = host ? [...host.querySelectorAll("button")].indexOf(held) : -1;
  draw();
  if (place >= 0 && !held.isConnected)
    host.querySelectorAll("button")[place]?.focus({ preventScroll: true });
}

const waiting = new Set();

/** Ask for one redraw in the next frame, however often it is called. */
function oncePerFrame(draw) {
  return () => {
    if (waiting.has(draw)) return;
    waiting.add(draw);
    requestAnimationFrame(() => waiting.delete(draw) && draw());
  };
}

/** Draw at once what waits for the next frame: on paper there is none. */
function drawNow() {
  while (waiting.size)
    for (const draw of [...waiting]) {
      waiting.delete(draw);
      draw();
    }
}

/** Draw now and again whenever the width of the element changes. */
function whenResized(element, draw) {
  let width = 0;
  new ResizeObserver(
    oncePerFrame(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      draw();
    }),
  ).observe(element);
}

/** A canvas of the element's size, sharp on any screen; gives its context in CSS pixels. */
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Whether two numbers are too close for an axis to tell them apart. */
const isOne = (low, high) => !(high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high)));

/** Round numbers that cover an interval, about so many. */
function ticks(low, high, about = 5) {
  const span = high - low;
  if (!(span > 1e-9 * Math.max(Math.abs(low), Math.abs(high)))) return [low];
  const rough = span / about,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++)
    found.push(Number((k * step).toPrecision(12)));
  return found;
}
