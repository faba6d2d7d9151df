"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

  // MARK: Timeline

  const chart = $("chart");
  if (chart) {
    const bodyRows = [...document.querySelectorAll("#steps tbody tr")];
    const rows = new Map(bodyRows.map((row) => [+row.dataset.step, row]));
    const heads = [...document.querySelectorAll("#steps thead th")].map((head) => head.textContent);
    const steps = +chart.dataset.steps;
    const cursor = make("div", "cursor noprint");
    const readout = $("readout");
    const usual = readout.textContent;
    let step = -1;
    cursor.hidden = true;
    chart.append(cursor);
    const show = (wanted) => {
      step = Math.max(0, Math.min(steps - 1, wanted));
      const plot = chart.querySelector("svg").getBoundingClientRect();
      const left = plot.left - chart.getBoundingClientRect().left + plot.width * (step + 0.5) / steps;
      cursor.style.left = `${left}px`;
      cursor.hidden = false;
      const row = rows.get(step);
      const cells = row ? [...row.cells].map((cell) => cell.textContent) : [];
      readout.textContent = row
        ? `From ${cells[0]}: ` + cells.slice(1)
            .map((cell, index) => [heads[index + 1], cell])
            .filter(([, cell], index) => index === 0 || cell !== "0")
            .map(([head, cell]) => `${head} ${cell}`).join(" · ")
        : "Nothing was committed in this step.";
    };
    const hide = () => { cursor.hidden = true; step = -1; readout.textContent = usual; };
    chart.addEventListener("pointermove", (event) => {
      const plot = chart.querySelector("svg").getBoundingClientRect();
      const place = (event.clientX - plot.left) / plot.width;
      if (place >= 0 && place < 1) show(Math.floor(place * steps)); else hide();
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      const first = step < 0;
      const moves = {
        ArrowRight: first ? 0 : step + 1, ArrowLeft: first ? steps - 1 : step - 1, Home: 0, End: steps - 1,
      };
      if (event.key in moves) show(moves[event.key]);
      else if (event.key === "Escape") hide();
      else return;
      event.preventDefault();
    });
  }

  // MARK: Commands

  const store = document.querySelector("main").dataset.store;
  const path = store.startsWith("-") ? `./${store}` : store;
  const quoted = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
  /// Copies the command that explains a commit, or shows it if the browser blocks copying.
  const copierOf = (offset) => {
    const command = `strata explain ${quoted} ${offset}`;
    const button = make("button", "copy noprint", "Copy strata explain");
    button.type = "button";
    button.title = command;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch { button.replaceWith(make("code", "", command)); }
    });
    return button;
  };
  for (const place of document.querySelectorAll("[data-commit]")) place.append(copierOf(place.dataset.commit));

  // MARK: Records

  const data = $("histories");
  if (!data) return;
  const records = JSON.parse(data.textContent).map(([zone, zoneName, database, type, name, count, versions]) =>
    ({ zone, zoneName, database, type, name, count, versions }));
  const [browser, search, order, found, results, history] =
    ["browser", "search", "order", "found", "results", "history"].map($);
  const mostResults = 300;
  const versionsAtOnce = 40;
  let shown = [];
  let chosen = null;

  const textOf = (record) => record.text ??= [
    record.name, record.zoneName, record.database, record.type,
    ...record.versions.flatMap((version) =>
      [version[2], version[4], version[5], ...version[7].flatMap((change) => change.filter((part) => part))]),
  ].join("\n").toLowerCase();
  const orders = {
    changed: (a, b) => b.count - a.count,
    latest: (a, b) => b.versions[b.versions.length - 1][0] - a.versions[a.versions.length - 1][0],
    name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.zone - b.zone),
  };

  const find = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word);
    const inName = (record) => words.every((word) => record.name.toLowerCase().includes(word));
    const matches = records.filter((record) => words.every((word) => textOf(record).includes(word)));
    matches.sort(orders[order.value]);
    // Those that are called so come before those that say so.
    if (words.length) matches.sort((a, b) => inName(b) - inName(a));
    shown = matches.slice(0, mostResults);
    found.textContent = matches.length > shown.length
      ? `${plural(matches.length, "record")}, the first ${shown.length} here`
      : plural(matches.length, "record");
    results.replaceChildren(...shown.map((record, index) => {
      const item = make("li");
      item.id = `result-${index}`;
      item.setAttribute("role", "option");
      item.append(make("b", "", record.name), make("small", "",
        `${record.type} · ${record.zoneName}${record.database ? ", " + record.database : ""} · `
        + plural(record.count, "version")));
      item.addEventListener("click", () => choose(record));
      return item;
    }));
    if (!shown.length) {
      results.append(make("li", "faint", ["No record on this page has these words.", browser.dataset.extent]
        .filter((text) => text).join(" ")));
    }
    mark();
  };

  const mark = () => {
    search.removeAttribute("aria-activedescendant");
    [...results.children].forEach((item, index) => {
      const isChosen = shown[index] !== undefined && shown[index] === chosen;
      item.setAttribute("aria-selected", isChosen);
      if (!isChosen) return;
      search.setAttribute("aria-activedescendant", item.id);
      // Not scrollIntoView, which may move the page too.
      const [top, bottom] = [item.offsetTop - results.offsetTop, results.clientHeight - item.offsetHeight];
      results.scrollTop = Math.max(top - bottom, Math.min(results.scrollTop, top));
    });
  };

  const choose = (record) => {
    chosen = record;
    mark();
    draw(record);
    try {
      window.history.replaceState(null, "", `#${anchorOf(record)}`);
    } catch { /* Where a page may not change its address, it goes without. */ }
  };

  /// Returns nothing for a name that cannot be an address.
  const anchorOf = (record) => {
    try { return `record=${record.zone}/${encodeURIComponent(record.name)}`; } catch { return ""; }
  };
  const linkTo = (anchor, text) => {
    const link = make("a", "", text);
    link.href = `#${anchor}`;
    return link;
  };

  // MARK: A record

  const draw = (record, count = versionsAtOnce) => {
    history.classList.remove("unchosen");
    const facts = make("p", "facts");
    const tell = (text) => facts.append(make("span", "", text));
    tell(`type ${record.type}`);
    tell(`zone ${record.zoneName}${record.database ? ", " + record.database : ""}`);
    const versions = record.versions.filter((version) => version[3] !== "base").length;
    tell(versions < record.count
      ? `the last ${versions.toLocaleString("en")} of ${plural(record.count, "version")}`
      : plural(record.count, "version"));
    const [heading, anchor] = [make("h3"), anchorOf(record)];
    if (anchor) heading.id = anchor;
    heading.append(anchor ? linkTo(anchor, record.name) : record.name);
    history.replaceChildren(heading, facts);
    drawVersions(record, record.versions.length, count);
  };

  const drawVersions = (record, end, count = versionsAtOnce) => {
    const start = Math.max(0, end - count);
    for (let index = end - 1; index >= start; index -= 1) history.append(versionOf(record.versions[index]));
    if (start === 0) return;
    const more = make("button", "noprint", `Show older versions (${start.toLocaleString("en")})`);
    more.type = "button";
    more.addEventListener("click", () => {
      more.remove();
      const before = history.lastElementChild;
      drawVersions(record, start);
      before.nextElementSibling?.querySelector("h4")?.focus();
    });
    history.append(more);
  };

  const badges = { create: "good", update: "", touch: "", base: "warn", delete: "bad", erase: "bad", "zone deleted": "bad" };
  const versionOf = ([offset, time, who, kind, operation, tag, notes, changes]) => {
    const section = make("section", "version");
    const head = make("header");
    const [title, anchor] = [make("h4"), `commit-${offset}`];
    const text = `Commit ${offset.toLocaleString("en")}`;
    // A commit may have several versions, or be refused in part.
    if (!$(anchor)) section.id = anchor;
    title.append(section.id ? linkTo(anchor, text) : text);
    title.tabIndex = -1;
    head.append(title, make("span", `badge ${badges[kind] ?? ""}`, kind), make("time", "faint", time),
      make("span", "faint", who));
    if (operation) head.append(make("span", "faint", operation));
    head.append(make("span", "faint", `tag ${tag}`));
    // A base stands for commits that are gone.
    if (kind !== "base") head.append(copierOf(offset));
    section.append(head);
    for (const note of notes) section.append(make("p", "faint", note));
    if (changes.length) section.append(tableOf(changes));
    return section;
  };

  const tableOf = (changes) => {
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const [name, className] of [["", "sign"], ["Field", "key"], ["Before", ""], ["After", ""]]) {
      const cell = make("th", className, name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const [key, before, after] of changes) {
      const [sign, what] =
        before === null ? ["+", "added"] : after === null ? ["−", "removed"] : ["~", "changed"];
      const row = body.insertRow();
      row.className = what;
      const mark = make("td", "sign", sign);
      mark.title = what;
      const name = make("th", "key", key);
      name.scope = "row";
      row.append(mark, name, ...valuesOf(before, after));
    }
    return table;
  };

  /// The characters of a value, and how many there are of one that was cut.
  const withoutNote = (value) => {
    const [, text, note] = value.match(/^(.*?)( \[\d+ characters\])?$/s);
    return [[...text], note];
  };

  /// Both values, with what tells them apart marked.
  const valuesOf = (before, after) => {
    const cells = [make("td", "value"), make("td", "value")];
    if (typeof before === "string" && typeof after === "string") {
      const [[left, leftNote], [right, rightNote]] = [before, after].map(withoutNote);
      const shorter = Math.min(left.length, right.length);
      let [front, back] = [0, 0];
      while (front < shorter && left[front] === right[front]) front += 1;
      while (back < shorter - front && left.at(-1 - back) === right.at(-1 - back)) back += 1;
      const mark = (cell, text, note, tag) => {
        cell.append(text.slice(0, front).join(""));
        const other = text.slice(front, text.length - back).join("");
        if (other) cell.append(make(tag, "", other));
        cell.append(text.slice(text.length - back).join(""));
        if (note) cell.append(make("span", "none", note));
      };
      mark(cells[0], left, leftNote, "del");
      mark(cells[1], right, rightNote, "ins");
      return cells;
    }
    [before, after].forEach((value, index) => {
      if (typeof value === "string") cells[index].append(value);
      else cells[index].append(make("span", "none", value === 0 ? "not in the log" : "none"));
    });
    return cells;
  };

  // MARK: Keys and links

  const move = (steps) => {
    if (!shown.length) return;
    const at = shown.indexOf(chosen);
    const next = at < 0 ? (steps > 0 ? 0 : shown.length - 1) : at + steps;
    choose(shown[Math.max(0, Math.min(shown.length - 1, next))]);
  };
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "PageDown") move(10);
    else if (event.key === "PageUp") move(-10);
    else if (event.key === "Enter" && (chosen || shown.length)) {
      if (!shown.includes(chosen)) move(1);
      history.focus();
    } else if (event.key === "Escape" && search.value) {
      search.value = "";
      find();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, select, textarea");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
  search.addEventListener("input", find);
  order.addEventListener("change", find);

  const known = new Map(records.map((record) => [`${record.zone}/${record.name}`, record]));
  for (const place of document.querySelectorAll("[data-record]")) {
    const record = known.get(`${place.dataset.zone}/${place.dataset.record}`);
    if (!record) continue;
    const link = make("button", "link", place.textContent);
    link.type = "button";
    link.addEventListener("click", () => {
      search.value = "";
      choose(record);
      find();
      $("records").scrollIntoView();
      history.focus({ preventScroll: true });
    });
    place.replaceChildren(link);
  }

  const details = [...document.querySelectorAll("details")];
  let wereOpen = [];
  window.addEventListener("beforeprint", () => {
    wereOpen = details.map((detail) => detail.open);
    for (const detail of details) detail.open = true;
  });
  window.addEventListener("afterprint", () => {
    details.forEach((detail, index) => { detail.open = wereOpen[index]; });
  });

  browser.hidden = false;
  find();
  // Open the most changed record at first, shortened so that the next section stays near.
  draw(shown[0], 5);
  const showCommit = (offset) => {
    const record = records.find((record) => record.versions.some((version) => version[0] === offset));
    if (!record) return;
    chosen = record;
    mark();
    draw(record);
    while (!$(`commit-${offset}`) && history.lastElementChild.localName === "button") {
      history.lastElementChild.click();
    }
    $(`commit-${offset}`)?.scrollIntoView();
  };
  const follow = () => {
    const place = location.hash.slice(1);
    if (/^commit-\d+$/.test(place) && !$(place)) return showCommit(+place.slice("commit-".length));
    if (!place.startsWith("record=")) return;
    const [zone, name] = place.slice("record=".length).split("/");
    let record;
    try { record = known.get(`${zone}/${decodeURIComponent(name ?? "")}`); } catch { record = undefined; }
    if (!record) return;
    choose(record);
    $("records").scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();
})();
