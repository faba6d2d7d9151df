/// The style sheet of a report's page.
enum ReportStyle {
    static let text = #"""

        :root {
          color-scheme: light dark;
          --paper: #f6f7f9; --card: #ffffff; --ink: #1a1f26; --faint: #56606c; --line: #dde1e7; --soft: #eef1f5;
          --accent: #1d5fc4; --accent-soft: #e3edfb; --bar: #4a86dd; --bar-soft: #a9c6f0;
          --bad: #b3261e; --bad-soft: #fdecea; --good: #136534; --good-soft: #e4f5ea; --warn: #7a4a00;
          --warn-soft: #fdf1da; --focus: #1d5fc4;
          --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #111418; --card: #191d23; --ink: #e6e9ee; --faint: #a3adb9; --line: #323943; --soft: #222831;
            --accent: #8ab8ff; --accent-soft: #1e2f49; --bar: #5f9bf0; --bar-soft: #35527d;
            --bad: #ff9a91; --bad-soft: #3b1d1b; --good: #7fd89d; --good-soft: #17301f; --warn: #edbd6a;
            --warn-soft: #35290f; --focus: #8ab8ff;
          }
        }
        *, *::before, *::after { box-sizing: border-box; }
        html { scroll-behavior: smooth; scroll-padding-top: 3.5rem; }
        @media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
        body {
          margin: 0; background: var(--paper); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
          font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
        }
        a { color: var(--accent); text-underline-offset: 2px; }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
        .skip { position: absolute; left: -999px; top: 0; z-index: 3; padding: .6rem 1rem; background: var(--card); }
        .skip:focus { left: .5rem; top: .5rem; }
        header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
        header { padding-top: 2rem; }
        h1, h2, h3, p, ul, ol, dl, dd, figure { margin: 0; }
        h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.015em; }
        h2 { font-size: 1.3rem; letter-spacing: -.01em; margin-bottom: .25rem; }
        h3 { font-size: 1rem; }
        time, .axis span { white-space: nowrap; }
        small, .faint { color: var(--faint); font-size: .85rem; }
        .kicker {
          color: var(--faint); text-transform: uppercase; letter-spacing: .09em; font-size: .75rem; font-weight: 600;
        }
        .facts { display: flex; flex-wrap: wrap; gap: .15rem 1.4rem; color: var(--faint); margin-top: .5rem; }
        code, .mono { font-family: var(--mono); font-size: .88em; }
        nav { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--line); }
        nav ul {
          max-width: 76rem; margin: 1rem auto 0; padding: 0 1.25rem; list-style: none; display: flex; gap: 1.3rem;
          overflow-x: auto; white-space: nowrap;
        }
        nav a { display: inline-block; padding: .65rem 0; color: var(--ink); text-decoration: none; font-weight: 500; }
        nav a:hover { color: var(--accent); }
        section { margin-top: 2.2rem; }
        section > p { color: var(--faint); max-width: 60rem; margin-bottom: .8rem; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; }
        .grid + .card { margin-top: 1rem; }
        .grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
        .columns { columns: 27rem 2; column-gap: 1rem; }
        .columns .card { break-inside: avoid; margin-bottom: 1rem; }
        .card > h3 { margin-bottom: .5rem; }
        .notice { border-left: 5px solid var(--warn); background: var(--warn-soft); margin-top: 1.2rem; }
        .notice.bad { border-left-color: var(--bad); background: var(--bad-soft); }
        .notice h2 { font-size: 1.05rem; }
        .notice ul { padding-left: 1.2rem; }
        .tiles { display: flex; flex-wrap: wrap; gap: .8rem; }
        .tiles div { flex: 1 1 15.5rem; padding: .8rem 1rem; }
        .tiles dt { color: var(--faint); font-size: .85rem; }
        .tiles dd { font-size: 1.55rem; font-weight: 650; line-height: 1.3; letter-spacing: -.01em; }
        .tiles small { display: block; font-weight: 400; letter-spacing: 0; }
        .scroll { overflow-x: auto; }
        .refused .scroll { max-height: 38rem; overflow-y: auto; }
        .refused thead th { position: sticky; top: 0; background: var(--card); z-index: 1; }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; }
        caption { text-align: left; font-weight: 600; font-size: 1rem; padding-bottom: .4rem; }
        th, td { text-align: left; padding: .32rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        th:first-child, td:first-child { padding-left: 0; }
        th:last-child, td:last-child { padding-right: 0; }
        tbody tr:last-child > * { border-bottom: 0; }
        thead th { color: var(--faint); font-weight: 600; font-size: .8rem; white-space: nowrap; }
        tbody th { font-weight: 500; }
        .n { text-align: right; white-space: nowrap; }
        .nowrap { white-space: nowrap; }
        td.meter { width: 26%; min-width: 4.5rem; vertical-align: middle; }
        td.meter svg { display: block; width: 100%; height: .6rem; }
        .meter rect:first-child { fill: var(--soft); }
        .meter rect:last-child { fill: var(--bar); }
        .badge {
          display: inline-block; border-radius: 99px; padding: .02rem .55rem; font-size: .78rem; font-weight: 600;
          background: var(--soft); color: var(--ink); white-space: nowrap;
        }
        .badge.bad { background: var(--bad-soft); color: var(--bad); }
        .badge.good { background: var(--good-soft); color: var(--good); }
        .badge.warn { background: var(--warn-soft); color: var(--warn); }
        .chart { position: relative; }
        .lane {
          display: grid; grid-template-columns: 11rem minmax(0, 1fr) 4.6rem; gap: .8rem; align-items: end;
          padding: .16rem 0;
        }
        .lane svg {
          display: block; width: 100%; height: 1.7rem; background: linear-gradient(var(--line), var(--line)) bottom /
          100% 1px no-repeat;
        }
        .lane.all svg { height: 8rem; }
        .lane path { fill: var(--bar); }
        .lane.bad path { fill: var(--bad); }
        .lane .name { line-height: 1.25; font-size: .9rem; }
        .lane .name small { display: block; }
        .lane .total { text-align: right; font-size: .9rem; }
        .lanes h3 { margin: .9rem 0 .2rem; color: var(--faint); font-size: .8rem; font-weight: 600; }
        .axis { color: var(--faint); font-size: .8rem; align-items: start; }
        .axis div { display: flex; justify-content: space-between; gap: 1rem; }
        .cursor {
          position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: var(--ink); opacity: .55;
          pointer-events: none;
        }
        .readout { min-height: 3rem; font-size: .9rem; margin-top: .4rem; }
        details { margin-top: .8rem; }
        summary { cursor: pointer; color: var(--accent); font-weight: 500; width: fit-content; }
        details[open] > summary { margin-bottom: .5rem; }
        .map > svg { display: block; width: 100%; height: 3.4rem; border-radius: 6px; background: var(--soft); }
        .map .blocks { fill: var(--bar); }
        .map .frames { fill: var(--bar-soft); }
        .map .base { fill: var(--good); }
        .map .damaged { fill: var(--bad); }
        .map > svg rect { stroke: var(--card); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
        .legend {
          display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; list-style: none; padding: 0; margin: .5rem 0 1rem;
          font-size: .85rem; color: var(--faint);
        }
        .legend svg { width: .85rem; height: .85rem; vertical-align: -.08rem; margin-right: .35rem; }
        td ul { list-style: none; padding: 0; }
        td li + li { margin-top: .25rem; }
        .browser { display: grid; gap: 1rem; grid-template-columns: minmax(17rem, 22rem) minmax(0, 1fr); }
        .browser[hidden] { display: none; }
        @media (min-width: 52.01rem) { .finder { position: sticky; top: 3.6rem; align-self: start; } }
        .finder label { display: block; font-weight: 600; margin-bottom: .3rem; }
        .finder input, .finder select {
          width: 100%; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--faint);
          border-radius: 7px; padding: .5rem .65rem;
        }
        .finder .row { display: flex; gap: .6rem; align-items: center; margin: .5rem 0; }
        .finder .row label { margin: 0; font-weight: 400; white-space: nowrap; }
        .finder .row select { width: auto; padding: .25rem .4rem; }
        .finder .row p { margin-left: auto; text-align: right; line-height: 1.25; }
        kbd {
          font: 600 .78rem var(--mono); border: 1px solid var(--faint); border-radius: 4px; padding: 0 .35rem;
          color: var(--ink); background: var(--soft);
        }
        .results {
          list-style: none; padding: .25rem; margin: 0; height: 34rem; max-height: calc(100vh - 12rem);
          overflow-y: auto;
          background: var(--card); border: 1px solid var(--line); border-radius: 10px;
        }
        .results li {
          padding: .4rem .6rem; line-height: 1.35; border-radius: 6px; cursor: pointer;
          border-left: 4px solid transparent;
        }
        .results li:hover { background: var(--soft); }
        .results li[aria-selected=true] { background: var(--accent-soft); border-left-color: var(--accent); }
        .results b { font-weight: 600; display: block; }
        .history { min-height: 34rem; }
        .history h3 { font-size: 1.15rem; }
        .history .facts { margin: .2rem 0 .8rem; }
        .version { margin: 0; border-top: 1px solid var(--line); padding: .8rem 0; }
        .version header { max-width: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem .8rem; }
        .version h4 { margin: 0; font-size: .95rem; }
        .version table { margin-top: .35rem; table-layout: fixed; }
        .version td, .version th { border-bottom-style: dotted; }
        .version .sign { width: 1.6rem; text-align: center; font-weight: 700; padding: .32rem 0; }
        .version .key { width: 22%; }
        .version td.value { font-family: var(--mono); font-size: .84rem; white-space: pre-wrap; }
        .version .none { color: var(--faint); font-family: inherit; font-style: italic; }
        .added .sign { color: var(--good); }
        .removed .sign { color: var(--bad); }
        .changed .sign { color: var(--warn); }
        del { background: var(--bad-soft); color: var(--bad); text-decoration: line-through; border-radius: 3px; }
        ins { background: var(--good-soft); color: var(--good); text-decoration: underline; border-radius: 3px; }
        mark { background: var(--warn-soft); color: var(--warn); border-radius: 3px; }
        button {
          font: inherit; color: var(--accent); background: none; border: 1px solid var(--line); border-radius: 7px;
          padding: .35rem .8rem; cursor: pointer;
        }
        button.link { border: 0; padding: 0; text-align: left; text-decoration: underline; text-underline-offset: 2px; }
        button.copy { font-size: .78rem; padding: 0 .5rem; }
        td button.copy { display: block; margin-top: .25rem; }
        button:hover { background: var(--soft); }
        tr:target, .version:target { background: var(--accent-soft); }
        .history h3 a, .version h4 a { color: inherit; text-decoration: none; }
        .history h3 a:hover, .version h4 a:hover { text-decoration: underline; }
        footer { margin-top: 2.5rem; padding-bottom: 3rem; color: var(--faint); font-size: .85rem; }
        @media (max-width: 52rem) {
          header { padding-top: 1.2rem; }
          h1 { font-size: 1.5rem; }
          .card { padding: .8rem; }
          .tiles div { flex-basis: 9rem; }
          .tiles dd { font-size: 1.3rem; }
          .browser { grid-template-columns: minmax(0, 1fr); }
          .results { height: 15rem; }
          .history { min-height: 20rem; }
          .lane { grid-template-columns: minmax(0, 1fr) auto; gap: .1rem .6rem; padding: .3rem 0; }
          .lane svg { grid-row: 2; grid-column: 1 / 3; }
          .lane .name small { display: inline; margin-left: .4rem; }
          .lane.axis div { grid-column: 1 / 3; }
          .lane.axis span { display: none; }
          .lane.axis div span { display: inline; }
          .lane.axis div span:nth-child(2):not(:last-child) { display: none; }
          .readout { min-height: 4.5rem; }
          .version .key { width: 30%; }
        }
        @media screen and (max-width: 52rem) {
          .meter { display: none; }
          .scroll th, .scroll td { overflow-wrap: normal; }
          .scroll tbody th { min-width: 9rem; }
          .refused thead { display: none; }
          .refused table, .refused caption, .refused tbody, .refused tr, .refused tbody th, .refused td {
            display: block;
          }
          .refused tbody tr {
            border: 1px solid var(--line); border-radius: 8px; padding: .5rem .7rem; margin-top: .6rem;
          }
          .refused tbody th, .refused td {
            border: 0; padding: .15rem 0; text-align: left; overflow-wrap: anywhere; min-width: 0;
          }
          .refused tbody th::before { content: "Commit "; }
        }
        @page { margin: 12mm; }
        @page wide { size: landscape; }
        @media print {
          :root {
            color-scheme: light;
            --paper: #fff; --card: #fff; --ink: #000; --faint: #333; --line: #bbb; --soft: #eee; --accent: #000;
            --accent-soft: #eee; --bar: #444; --bar-soft: #aaa; --bad: #000; --bad-soft: #fff; --good: #000;
            --good-soft: #fff; --warn: #000; --warn-soft: #fff;
          }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          body { font-size: 10pt; }
          nav, .skip, .finder, .readout, .cursor, summary, .noprint { display: none; }
          header, main, footer { max-width: none; padding: 0; }
          section { margin-top: 1.2rem; }
          h2, h3, caption, thead { break-after: avoid; }
          tr, .lane, .tiles div, .version header { break-inside: avoid; }
          .scroll, .refused .scroll { overflow: visible; max-height: none; }
          table { font-size: 8pt; }
          th, td { overflow-wrap: normal; }
          thead th, time { white-space: normal; }
          #timeline details { page: wide; }
          #steps { font-size: 7pt; }
          #steps thead th { font-size: 6pt; white-space: normal; }
          #steps th, #steps td { padding: .1rem .15rem; }
          .refused thead th { position: static; }
          .card { padding: .6rem .8rem; }
          .browser { display: block; }
          .history { min-height: 0; }
          .history:empty, .history.unchosen { display: none; }
          details::details-content { content-visibility: visible; display: block; }
          a, button.link { color: #000; text-decoration: none; }
          .map .damaged { stroke: #000; stroke-width: 4; }
        }

        """#
}
