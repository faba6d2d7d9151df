"""Draws a session in a terminal as SVG: runs the commands in a folder and shows what they print.

usage: session.py FOLDER
"""

import html
import subprocess
import sys
import textwrap

COLUMNS = 112
COMMANDS = [
    'strata bisect Theater.strata Show --user anna --where "free > seats - door - office"',
    "strata explain Theater.strata 12",
    "strata what-if Theater.strata --policy 12=if-server-record-unchanged",
]
CHARACTER, LINE, MARGIN = 7.8, 18, 16


def printed(command: str, folder: str) -> list[str]:
    result = subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE)
    # 1 is an answer: something differs.
    if result.returncode not in (0, 1):
        raise SystemExit(f"{command} ended with {result.returncode}")
    return result.stdout.decode().rstrip("\n").split("\n")


def lines(folder: str):
    """Yields whether a line was typed, and its text, broken where a terminal is too narrow."""
    printed("lost-ticket Theater.strata", folder)
    for command in COMMANDS:
        yield True, "$ " + command
        for line in printed(command, folder):
            indent = len(line) - len(line.lstrip()) + 4
            yield from ((False, part) for part in textwrap.wrap(
                line, COLUMNS, subsequent_indent=" " * indent, drop_whitespace=True) or [""])
        yield False, ""


def draw(folder: str) -> str:
    shown = list(lines(folder))[:-1]
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, len(shown) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
        "<title>strata finds the commit that lost an update</title>",
        "<style>text { font: 13px ui-monospace, monospace; fill: #d8dee9; white-space: pre }"
        " .typed { fill: #a3be8c; font-weight: bold }</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#242933"/>',
    ]
    for number, (is_typed, text) in enumerate(shown):
        if text:
            kind = ' class="typed"' if is_typed else ""
            place = MARGIN + (number + 1) * LINE - 5
            parts.append(
                f'<text x="{MARGIN}" y="{place}" xml:space="preserve"{kind}>{html.escape(text, quote=False)}</text>')
    return "\n".join(parts + ["</svg>"])


print(draw(sys.argv[1]))
