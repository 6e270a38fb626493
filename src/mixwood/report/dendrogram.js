// The tree of the report: drawn as SVG, with zoom and pan along the leaves, and what a node holds.
"use strict";

(function () {
  const block = document.getElementById("tree-data");
  if (!block) return;
  const tree = JSON.parse(block.textContent);
  const svg = document.getElementById("tree");
  const panel = document.getElementById("node");
  const BOX = { width: 1000, height: 460, left: 62, right: 992, top: 14, bottom: 362 };
  const START = 0, END = 1, HEIGHT = 2, CHANCE = 3, LEFT = 4, RIGHT = 5;
  const nodes = tree.nodes;
  const root = nodes.length - 1;
  const parent = new Array(nodes.length).fill(null);
  nodes.forEach((node, k) => {
    if (node[LEFT] !== null) parent[node[LEFT]] = parent[node[RIGHT]] = k;
  });

  // Leaves of the drawing stand in the order of their items, one unit apart.
  const leaves = nodes.map((_, k) => k).filter((k) => nodes[k][LEFT] === null);
  leaves.sort((a, b) => nodes[a][START] - nodes[b][START]);
  const place = new Array(nodes.length);
  leaves.forEach((k, i) => { place[k] = i + 0.5; });
  nodes.forEach((node, k) => {
    if (node[LEFT] !== null) place[k] = (place[node[LEFT]] + place[node[RIGHT]]) / 2;
  });
  const reach = new Array(nodes.length); // first and last leaf below a node
  nodes.forEach((node, k) => {
    reach[k] = node[LEFT] === null
      ? [place[k] - 0.5, place[k] + 0.5]
      : [reach[node[LEFT]][0], reach[node[RIGHT]][1]];
  });

  // Heights are log(1 + d): linear near 0, logarithmic above, so that merges within clusters
  // and between them are both seen.
  const highest = Math.max(1, nodes[root][HEIGHT]);
  const scaled = (height) => Math.asinh(5 * height);
  const up = (height) =>
    BOX.bottom - (scaled(height) / scaled(highest)) * (BOX.bottom - BOX.top);
  const drawnHeight = (k) => (nodes[k][LEFT] === null ? 0 : nodes[k][HEIGHT]);

  // What is seen: leaves from view.from on, view.count of them.
  const whole = Math.max(leaves.length, 1);
  const view = { from: 0, count: whole };
  const fewest = Math.min(4, whole);
  const across = (x) => BOX.left + ((x - view.from) / view.count) * (BOX.right - BOX.left);
  const leafAt = (pixel) => view.from + ((pixel - BOX.left) / (BOX.right - BOX.left)) * view.count;

  function element(name, attributes, within) {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    within.appendChild(made);
    return made;
  }

  function colourOf(k) {
    let cluster = null;
    for (let i = nodes[k][START]; i < nodes[k][END]; i++) {
      if (cluster === null) cluster = tree.clusters[i];
      else if (cluster !== tree.clusters[i]) return tree.mixed;
    }
    return tree.colours[cluster];
  }

  const clip = element("clipPath", { id: "tree-window" }, element("defs", {}, svg));
  const hole = element("rect", { x: BOX.left, y: 0, width: 0, height: BOX.height }, clip);
  const axis = element("g", { class: "axis" }, svg);
  const window_ = element("g", { "clip-path": "url(#tree-window)" }, svg);
  const stems = element("g", {}, window_);
  const names = element("g", { class: "names" }, window_);
  const lines = new Map();

  // Numbers for readers: counts with separators, others to three digits, probabilities to three.
  const grouped = (count) => count.toLocaleString("en");
  const rounded = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const probability = (chance) =>
    chance < 0.001 ? "< 0.001" : chance > 0.999 ? "> 0.999" : `= ${chance.toFixed(3)}`;
  const nameOf = (i) => String((tree.names && tree.names[i]) || tree.rows[i]);
  const short = (text) => (text.length > 13 ? text.slice(0, 12) + "\u2026" : text);

  function drawAxis() {
    axis.textContent = "";
    const values = [0, 1];
    for (let value = 10; value < highest; value *= 10) values.push(value);
    for (const value of values) {
      const y = up(value);
      element("line", { x1: BOX.left - 4, x2: BOX.left, y1: y, y2: y }, axis);
      const text = element("text", { x: BOX.left - 7, y: y + 4, "text-anchor": "end" }, axis);
      text.textContent = value.toLocaleString("en");
    }
    const half = up(Math.log(2));
    element("line", { x1: BOX.left, x2: BOX.right, y1: half, y2: half, class: "half" }, axis);
    const title = element("text", {
      x: 12, y: (BOX.top + BOX.bottom) / 2, "text-anchor": "middle",
      transform: `rotate(-90 12 ${(BOX.top + BOX.bottom) / 2})`,
    }, axis);
    title.textContent = "height of a merge, log(1 + d)";
  }

  function shape(k) {
    const [, , height, , left, right] = nodes[k];
    const y = up(height);
    return `M${place[left]} ${up(drawnHeight(left))}V${y}H${place[right]}V${up(drawnHeight(right))}`;
  }

  function drawMerges() {
    for (let k = 0; k < nodes.length; k++) {
      const leaf = nodes[k][LEFT] === null;
      const d = leaf ? `M${place[k]} ${BOX.bottom}v6` : shape(k);
      const line = element("path", { d, class: "merge", stroke: colourOf(k) }, stems);
      lines.set(k, line);
      const target = element("path", { d, class: "target", "data-node": k }, stems);
      target.addEventListener("pointerenter", () => choose(k));
      target.addEventListener("dblclick", () => frame(k));
    }
  }

  function drawNames() {
    names.textContent = "";
    const spacing = (BOX.right - BOX.left) / view.count;
    if (spacing < 11) return;
    for (const k of leaves) {
      const x = across(place[k]);
      if (x < BOX.left || x > BOX.right) continue;
      const count = nodes[k][END] - nodes[k][START];
      const text = element("text", {
        x: x, y: BOX.bottom + 12, "text-anchor": "end", "dominant-baseline": "middle",
        transform: `rotate(-90 ${x} ${BOX.bottom + 12})`,
      }, names);
      text.textContent = count === 1 ? short(nameOf(nodes[k][START])) : `(${grouped(count)})`;
    }
  }

  function draw() {
    view.count = Math.min(Math.max(view.count, fewest), whole);
    view.from = Math.min(Math.max(view.from, 0), whole - view.count);
    const scale = (BOX.right - BOX.left) / view.count;
    stems.setAttribute("transform", `translate(${BOX.left - view.from * scale} 0) scale(${scale} 1)`);
    svg.dataset.from = view.from.toFixed(3);
    svg.dataset.count = view.count.toFixed(3);
    drawNames();
  }

  function zoom(factor, middle) {
    const about = middle === undefined ? view.from + view.count / 2 : middle;
    const count = Math.min(Math.max(view.count / factor, fewest), whole);
    view.from = about - (about - view.from) * (count / view.count);
    view.count = count;
    draw();
  }

  function frame(k) {
    const [first, last] = reach[k];
    view.count = (last - first) * 1.1;
    view.from = first - (last - first) * 0.05;
    draw();
  }

  function reset() {
    view.from = 0;
    view.count = whole;
    draw();
  }

  // --- what a node is

  let chosen = null;

  function said(text, kind) {
    const line = document.createElement("p");
    line.textContent = text;
    if (kind) line.className = kind;
    panel.appendChild(line);
  }

  function choose(k) {
    if (chosen !== null) lines.get(chosen).classList.remove("chosen");
    chosen = k;
    lines.get(k).classList.add("chosen");
    svg.dataset.node = k;
    const [start, end, height, chance] = nodes[k];
    const count = end - start;
    panel.textContent = "";
    let first = count === 1 ? "1 item." : `${grouped(count)} items.`;
    if (chance !== null) {
      first += ` Probability that they are one cluster, given the tree: P(h) ${probability(chance)}.`;
      first += ` Height ${rounded(height)}.`;
    }
    said(first, "soft");
    const within = new Map();
    for (let i = start; i < end; i++) {
      within.set(tree.clusters[i], (within.get(tree.clusters[i]) || 0) + 1);
    }
    const parts = [...within].sort((a, b) => b[1] - a[1]);
    const listed = parts.slice(0, 6).map((p) => `cluster ${p[0]} (${grouped(p[1])})`).join(", ");
    const more = parts.length - 6;
    said(`In the estimate: ${listed}`
      + (more > 0 ? `, and ${grouped(more)} more cluster${more > 1 ? "s" : ""}.` : "."), "soft");
    const members = [];
    for (let i = start; i < Math.min(end, start + 24); i++) members.push(i);
    members.sort((a, b) => tree.rows[a] - tree.rows[b]);
    said(`Row${count > 1 ? "s" : ""} ${members.map(nameOf).join(", ")}`
      + (count > 24 ? ", ..." : ""), "soft");
  }

  function step(key) {
    if (chosen === null) return choose(root);
    const [, , , , left, right] = nodes[chosen];
    const above = parent[chosen];
    if (key === "ArrowUp" && above !== null) choose(above);
    if (key === "ArrowDown" && left !== null) {
      const size = (k) => nodes[k][END] - nodes[k][START];
      choose(size(left) >= size(right) ? left : right);
    }
    if (key === "ArrowLeft" && above !== null) choose(nodes[above][LEFT]);
    if (key === "ArrowRight" && above !== null) choose(nodes[above][RIGHT]);
    const [first, last] = reach[chosen];
    if (first < view.from || last > view.from + view.count) {
      if (last - first > view.count) frame(chosen);
      else { view.from = (first + last - view.count) / 2; draw(); }
    }
  }

  // --- mouse, touch, keyboard

  const toBox = (event) => {
    const bounds = svg.getBoundingClientRect();
    return ((event.clientX - bounds.left) / bounds.width) * BOX.width;
  };

  svg.addEventListener("wheel", (event) => {
    // The page scrolls under the tree until the tree is clicked, or with Ctrl held.
    if (!event.ctrlKey && document.activeElement !== svg) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), leafAt(toBox(event)));
  }, { passive: false });

  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = { x: toBox(event), from: view.from, id: event.pointerId };
  });
  svg.addEventListener("pointermove", (event) => {
    if (held === null) return;
    if (!svg.classList.contains("moving")) {
      if (Math.abs(toBox(event) - held.x) < 3) return;
      svg.classList.add("moving");
      svg.setPointerCapture(held.id); // only once it moves: a click stays with what is clicked
    }
    view.from = held.from - ((toBox(event) - held.x) / (BOX.right - BOX.left)) * view.count;
    draw();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    svg.addEventListener(name, () => {
      held = null;
      svg.classList.remove("moving");
    });
  }

  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      view.from += (event.key === "ArrowLeft" ? -0.2 : 0.2) * view.count;
      draw();
    } else if (event.key.startsWith("Arrow")) step(event.key);
    else if (event.key === "+" || event.key === "=") zoom(1.6);
    else if (event.key === "-") zoom(1 / 1.6);
    else if (event.key === "0") reset();
    else if (event.key === "Home") choose(root);
    else if (event.key === "Enter" && chosen !== null) frame(chosen);
    else return;
    event.preventDefault();
  });

  document.getElementById("tree-in").addEventListener("click", () => zoom(1.6));
  document.getElementById("tree-out").addEventListener("click", () => zoom(1 / 1.6));
  document.getElementById("tree-all").addEventListener("click", reset);

  // One unit is one pixel, so that letters stay legible on a small screen; paper scales it.
  function fit() {
    BOX.width = Math.max(svg.getBoundingClientRect().width || 1000, 280);
    BOX.right = BOX.width - 8;
    svg.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
    hole.setAttribute("width", BOX.right - BOX.left);
    drawAxis();
    draw();
  }

  drawMerges();
  fit();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) fit();
    width = window.innerWidth;
  });
})();
