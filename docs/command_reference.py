"""The reference of the command, made from its own help: one page per subcommand.

    python docs/command_reference.py target/debug/goc docs/reference/command
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

# What Markdown would take for markup; backticks stay, for they are meant as such.
MARKUP = re.compile(r"([\\*_<>\[\]{}$#|~^])")


def helped(goc: str, *words: str) -> str:
    """The long help of a command, as a pipe gets it."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run([goc, *words, "--help"], check=True, capture_output=True, text=True, env=environment).stdout


def commands(text: str) -> list[str]:
    """The names of the subcommands, in the order of the help."""
    listed = text.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0]
    names = re.findall(r"^  ([a-z][a-z-]*)\s", listed, re.MULTILINE)
    return [name for name in names if name != "help"]


def prose(text: str) -> str:
    """Plain text as Markdown. Words between backticks are left as they are."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return MARKUP.sub(r"\\\1", text).replace("`", r"\`")
    return "`".join(part if i % 2 else MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts))


def paragraphs(lines: list[str]) -> list[str]:
    """Description lines as Markdown: paragraphs joined, possible values as a list."""
    made: list[str] = []
    begin = True
    for line in lines:
        words = line.strip()
        if not words:
            begin = True
        elif words.startswith("- "):
            name, _, what = words[2:].partition(":")
            made.append(f"- `{name.strip()}`" + (f": {prose(what.strip())}" if what.strip() else ""))
            begin = False
        elif begin:
            made.append(prose(words))
            begin = False
        else:
            made[-1] += " " + prose(words)
    # A list needs an empty line before it, but none between its items.
    text: list[str] = []
    for i, paragraph in enumerate(made):
        if i and not (paragraph.startswith("- ") and made[i - 1].startswith("- ")):
            text.append("")
        text.append(paragraph)
    return text


def entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Arguments or options with the lines that describe them, in clap's long or short layout."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if stripped and indent <= 6 and (stripped[0] in "-<["):
            term, _, what = stripped.partition("  ")
            found.append((term, [what] if what else []))
        elif found:
            found[-1][1].append(line)
    return found


def page(name: str, text: str) -> str:
    """The page of one subcommand."""
    about, _, rest = text.partition("\n\nUsage: ")
    usage, _, rest = rest.partition("\n")
    # Sections begin at the left edge and end with a colon; the examples follow the last.
    sections: list[tuple[str, list[str]]] = []
    after: list[str] = []
    for line in rest.splitlines():
        if after or line.startswith("Example: "):
            after.append(line)
        elif re.fullmatch(r"[A-Z][^:]*:", line):
            sections.append((line[:-1], []))
        elif sections and (line.startswith(" ") or not line):
            sections[-1][1].append(line)
    out = [f"# goc {name}", "", prose(" ".join(about.split())), "", "```text", usage, "```", ""]
    out += [f"```{{program}} goc {name}", "```", ""]
    for title, lines in sections:
        out += [f"## {title}", ""]
        for term, what in entries(lines):
            if title == "Arguments":
                out += [f"`{term}`", "", *paragraphs(what), ""]
            else:
                out += [f"````{{option}} {term}", *paragraphs(what), "````", ""]
    if after:
        out += ["## Examples", "", "```text", *after, "```", ""]
    return "\n".join(out)


def main(goc: str, folder: str) -> None:
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    for old in into.glob("*.md"):
        old.unlink()
    whole = helped(goc)
    names = commands(whole)
    for name in names:
        (into / f"{name}.md").write_text(page(name, helped(goc, name)))
    index = ["# The command", "", "Made from the command's own help.", "", "```text", whole.rstrip(), "```", ""]
    index += ["```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    (into / "index.md").write_text("\n".join(index))
    print(f"{len(names)} commands described in {into}")


if __name__ == "__main__":
    main(*sys.argv[1:])
