// Runs behind everything else on a copy of a report's page: uses it as somebody at a keyboard would, and leaves PASS or
// FAIL with the reasons in the element #check.
"use strict";
(async () => {
  const $ = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  // By a timer: a headless browser may show no frame in time.
  const wait = () => new Promise((done) => setTimeout(done, 200));
  let count = 0;
  const expect = (holds, text) => {
    count += 1;
    if (!holds) window.faults.push(text);
  };
  const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const type = (text) => {
    $("#search").value = text;
    $("#search").dispatchEvent(new Event("input", { bubbles: true }));
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // MARK: What is there

  const checkContent = () => {
    expect(all(".tiles dd").length >= 6, "there are tiles");
    for (const id of ["overview", "timeline", "sizes", "churn", "refusals", "segments", "records"]) {
      expect($(`#${id} h2`), `a section ${id}`);
      expect($(`nav a[href="#${id}"]`), `a link to ${id}`);
    }
    expect(all("#timeline .lane path").filter((path) => path.getAttribute("d")).length >= 8, "lanes with bars");
    expect(all("#segments .map rect").length >= 3, "a map of segments");
    expect(all("#refusals .refused tbody tr").length >= 10, "refusals");
    expect(document.body.textContent.includes("conflict"), "conflicts");
    expect(all("noscript").every((element) => !element.children.length || !isShown(element)), "scripts run");
  };

  const checkMarkup = () => {
    const ids = all("[id]").map((element) => element.id);
    expect(new Set(ids).size === ids.length, "ids are there once");
    expect(all("img, iframe, object, embed, link, base, video, audio, marquee").length === 0, "no foreign element");
    expect(all("i, b").every((element) => !element.attributes.length), "no foreign formatting");
    expect(all("*").every((element) => [...element.attributes].every((attribute) => !attribute.name.startsWith("on"))),
      "no handlers in attributes");
    expect(!document.title.includes("FAIL"), "nothing of the store has run");
    expect(all("a").every((link) => document.getElementById(link.hash.slice(1))), "links lead somewhere");
    for (const element of all("a, button, input, select, summary")) {
      const label = element.labels?.[0]?.textContent || element.getAttribute("aria-label") || element.textContent;
      expect(label.trim(), `a name for <${element.localName}>`);
    }
    expect(all('svg[role="img"]').every((image) => image.querySelector("title")?.textContent), "titles of pictures");
    expect(all("svg:not([role])").every((image) => image.getAttribute("aria-hidden") === "true"), "other pictures are hidden");
    expect(all("th").every((cell) => cell.scope), "scopes of heads");
    expect(all("[aria-controls]").every((element) => document.getElementById(element.getAttribute("aria-controls"))),
      "what is controlled is there");
    expect($("html").lang === "en" && document.title, "language and title");
  };

  const checkLayout = () => {
    const width = document.documentElement.clientWidth;
    expect(document.documentElement.scrollWidth <= width, `the page is ${document.documentElement.scrollWidth} wide, not ${width}`);
    expect(window.shift < 0.02, `layout shifts by ${window.shift}`);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    expect(isDark === location.search.includes("dark"), "the browser has the theme that was asked for");
    const [red, green, blue] = numbers(getComputedStyle(document.body).backgroundColor);
    expect(red + green + blue < 384 === isDark, "the page has the browser's theme");
  };

  /// Checks that no column is so narrow that words break or names do not fit.
  const checkTables = () => {
    const split = new Set();
    const range = document.createRange();
    for (const cell of all(".scroll th, .scroll td, .tiles dt")) {
      if (!isShown(cell)) continue;
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const word of node.data.matchAll(/(?<=^|\s)[A-Za-z]{2,20}(?=$|\s)/g)) {
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          if (range.getClientRects().length > 1) split.add(word[0]);
        }
      }
    }
    expect(split.size === 0, `words break: ${[...split].slice(0, 8).join(", ")}`);
    if (innerWidth > 832) return;
    expect(all(".meter").every((cell) => !isShown(cell)), "a narrow page has no columns of bars");
    const names = all(".scroll tbody th").filter((cell) => isShown(cell) && !cell.closest(".refused"));
    expect(names.every((cell) => cell.getBoundingClientRect().width >= 143), "names have room");
    const width = document.documentElement.clientWidth;
    expect(all(".refused tbody tr").every((row) => row.getBoundingClientRect().right <= width), "refusals are cards");
  };

  // MARK: Contrast

  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = color.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const checkContrast = () => {
    const poor = new Set();
    for (const element of all("body *")) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!hasText || !isShown(element) || element.closest("svg")) continue;
      const [one, other] = [luminance(numbers(getComputedStyle(element).color)), luminance(backgroundOf(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (ratio < 4.5) poor.add(`${element.localName}.${element.className} ${ratio.toFixed(2)}`);
    }
    expect(poor.size === 0, `contrast: ${[...poor].slice(0, 5).join("; ")}`);
    for (const path of all(".lane path, .map rect, td.meter rect:last-child")) {
      const [one, other] = [luminance(numbers(getComputedStyle(path).fill)), luminance(backgroundOf(path))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (ratio < 1.5) poor.add(`${path.getAttribute("class")} ${ratio.toFixed(2)}`);
    }
    expect(poor.size === 0, `contrast of pictures: ${[...poor].slice(0, 5).join("; ")}`);
  };

  // MARK: Use

  const checkSearch = () => {
    const data = JSON.parse($("#histories").textContent);
    expect($("#history h3")?.textContent === $("#results b").textContent, "the one that changed most is open at first");
    expect(all("#results [aria-selected=true]").length === 0 && !location.hash, "though nobody has chosen it");
    expect($("#found").textContent.startsWith(`${data.length.toLocaleString("en")} record`), "all records at first");
    press(document.body, "/");
    expect(document.activeElement === $("#search"), "/ begins a search");
    expect(getComputedStyle($("#search")).outlineStyle !== "none", "the focus is seen");
    type("note-1");
    expect(all("#results [role=option]").length >= 5, "records called note-1…");
    expect($("#results b").textContent.includes("note-1"), "names come first");
    press($("#search"), "ArrowDown");
    const first = $("#history h3")?.textContent;
    expect(first === $("#results b").textContent, "the first result is shown");
    expect(all("#results [aria-selected=true]").length === 1, "one is chosen");
    expect($("#search").getAttribute("aria-activedescendant") === $("#results [aria-selected=true]").id, "readers hear it");
    press($("#search"), "ArrowDown");
    expect($("#history h3").textContent === all("#results b")[1].textContent, "the second result is shown");
    press($("#search"), "ArrowUp");
    expect($("#history h3").textContent === first, "and the first again");
    press($("#search"), "Enter");
    expect(document.activeElement === $("#history"), "Enter goes to the history");
    expect(location.hash.startsWith("#record="), "the address names the record");
    type("hunter2");
    expect($("#found").textContent === "0 records" && $("#results").textContent.includes("No record"), "what is not there");
    press($("#search"), "Escape");
    expect($("#search").value === "" && all("#results [role=option]").length > 10, "Escape ends the search");
    for (const order of ["latest", "name", "changed"]) {
      $("#order").value = order;
      $("#order").dispatchEvent(new Event("change"));
      expect(all("#results [role=option]").length > 10, `in the order ${order}`);
    }
  };

  const checkHistories = () => {
    const hostile = "<\/script><img src=x onerror=\"document.title='FAIL'\">";
    type("onerror");
    press($("#search"), "ArrowDown");
    expect($("#history h3").textContent === hostile, "a hostile name is text");
    expect($("#history").textContent.includes("alert(1)"), "and so is its zone");
    expect(all("#history .version").length === 3 && $("#history del, #history ins"), "its versions differ");
    type("secret");
    press($("#search"), "ArrowDown");
    expect($("#history").textContent.includes("encrypted, 7 bytes"), "what is encrypted stays so");
    type("forget-me");
    press($("#search"), "ArrowDown");
    expect($("#history").textContent.includes("its content was erased later"), "what was erased says so");
    type("");
    $("#order").value = "changed";
    $("#order").dispatchEvent(new Event("change"));
    $("#results li").click();
    const most = JSON.parse($("#histories").textContent).reduce((one, other) => (other[5] > one[5] ? other : one));
    while ($("#history > button")) $("#history > button").click();
    expect(all("#history .version").length === most[6].length, "older versions come when asked for");
    expect(all("#history .changed").length > 10 && $("#history .changed .sign").textContent === "~", "changes have signs");
  };

  const checkLinks = () => {
    const links = all("#churn [data-record] button");
    expect(links.length === all("#churn tbody tr").length, "records that changed most are links");
    links[1].click();
    expect($("#history h3").textContent === links[1].textContent, "a link shows its record");
    expect(document.activeElement === $("#history"), "and goes there");
    expect(all("#refusals [data-record] button").length > 0, "records of refusals are links");
  };

  const checkAnchors = async () => {
    const data = JSON.parse($("#histories").textContent);
    const wanted = data.find((record) => record[4] === "secret")[6][0][0];
    expect(!$(`#commit-${wanted}`), "a commit that is not shown");
    location.hash = `#commit-${wanted}`;
    await wait();
    expect($(`#history #commit-${wanted}`), "an address leads to a commit");
    expect($(`#history #commit-${wanted} h4`).textContent === `Commit ${wanted.toLocaleString("en")}`, "digits are grouped");
    const oldest = data.reduce((one, other) => (other[5] > one[5] ? other : one))[6][0][0];
    location.hash = `#commit-${oldest}`;
    await wait();
    expect($(`#commit-${oldest}`), "also to an old one, of many");
    expect(all("#refusals tr[id^=commit-]").length >= 10, "refusals have addresses");
    const button = $(`#commit-${oldest} button.copy`) ?? $("#refusals button.copy");
    expect(/^strata explain \S+ \d+$/.test(button.title), `a command to copy: ${button.title}`);
    expect(all("#refusals button.copy").length === all("#refusals .refused tbody tr").length, "for each refusal");
  };

  const checkChart = () => {
    const chart = $("#chart");
    const usual = $("#readout").textContent;
    chart.focus();
    expect(document.activeElement === chart, "the chart takes the focus");
    press(chart, "ArrowRight");
    expect(/^From .*All commits/.test($("#readout").textContent), `a step is read: ${$("#readout").textContent}`);
    const first = $("#readout").textContent;
    press(chart, "End");
    expect($("#readout").textContent !== first && !$(".cursor").hidden, "the last step is another one");
    press(chart, "Escape");
    expect($("#readout").textContent === usual && $(".cursor").hidden, "Escape ends it");
  };

  const checkPaper = () => {
    window.dispatchEvent(new Event("beforeprint"));
    expect(all("details").every((detail) => detail.open), "paper has all tables");
    checkContrast();
    window.dispatchEvent(new Event("afterprint"));
    expect(all("details").every((detail) => !detail.open), "and the screen does not");
  };

  await wait();
  const steps = [
    checkLayout, checkContent, checkMarkup, checkTables, checkSearch, checkHistories, checkContrast, checkChart, checkLinks,
    checkAnchors, checkPaper, checkMarkup,
  ];
  for (const step of steps) {
    try { await step(); } catch (error) { window.faults.push(`${step.name}: ${error}`); }
  }
  const result = document.createElement("pre");
  result.id = "check";
  result.textContent = window.faults.length
    ? window.faults.map((fault) => `FAIL: ${fault}`).join("\n") : `PASS: ${count} checks`;
  document.body.append(result);
  // A frame is narrower than a window may be.
  if (window.parent !== window) window.parent.postMessage(result.textContent, "*");
})();
