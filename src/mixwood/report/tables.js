// Tables of the report: a click on a heading sorts, and what is folded unfolds on paper.
(function () {
  const number = (cell) => (cell.dataset.sort === undefined ? NaN : Number(cell.dataset.sort));
  const bare = (cell) => cell.textContent.trim();

  // Numbers before text, text before nothing; so that empty cells stay below.
  function compared(a, b) {
    const x = number(a), y = number(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return bare(a).localeCompare(bare(b), "en", { numeric: true });
  }

  function sort(table, column, head) {
    const body = table.tBodies[0];
    const up = head.getAttribute("aria-sort") === "descending" || !head.hasAttribute("aria-sort")
      && Number.isNaN(number(body.rows[0].cells[column]));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows];
    const empty = (row) => bare(row.cells[column]) === "";
    rows.sort((a, b) => {
      if (empty(a) !== empty(b)) return empty(a) ? 1 : -1;
      const order = compared(a.cells[column], b.cells[column]);
      return up ? order : -order;
    });
    body.append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    if (table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = head.textContent || "name";
      head.replaceChildren(button);
      button.addEventListener("click", () => sort(table, column, head));
    });
  }

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details[data-printed]:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
  });
})();
