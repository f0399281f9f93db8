"""A table as LaTeX, to be included in a paper with the packages ``booktabs`` and ``threeparttable``."""

from __future__ import annotations

from triptych_paper.report.model import Cell, Column, Table

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": r"$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "µ": r"\textmu{}",
    "…": r"\dots{}",
    "→": r"$\to$",
    "√": r"\checkmark{}",
    "\n": " ",
}
"""What LaTeX would take for a command, or has no letter for in its oldest encodings."""

SHORT = 40
"""Columns of text whose longest field has more characters than this are broken into lines."""


def escape(text: str) -> str:
    """Make a text safe."""
    return "".join(SPECIAL.get(character, character) for character in text)


def render(table: Table) -> str:
    """A `table` environment with the footnotes below."""

    def marks(item: Cell | Column) -> str:
        numbers = ",".join(str(number) for number in table.marks(item))
        return rf"\tnote{{{numbers}}}" if numbers else ""

    def field(cell: Cell) -> str:
        text = escape(cell.text) + marks(cell)
        if not cell.detail:
            return text
        lines = r"\\".join([text, *(rf"{{\scriptsize {escape(line)}}}" for line in cell.detail)])
        return rf"\shortstack[r]{{{lines}}}"

    def layout(index: int, column: Column) -> str:
        if column.numeric:
            return "r"
        longest = max((len(row[index].text) for row in table.rows), default=0)
        return "l" if longest <= SHORT else r"p{0.3\linewidth}"

    spec = "".join(layout(index, column) for index, column in enumerate(table.columns))
    lines = [
        "% Needs \\usepackage{booktabs,threeparttable}.",
        r"\begin{table}",
        r"\centering\small",
        r"\begin{threeparttable}",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.key}}}",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        " & ".join(escape(column.heading) + marks(column) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    lines += [" & ".join(field(cell) for cell in row) + r" \\" for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    footnotes = table.footnotes()
    if footnotes or table.note:
        lines.append(r"\begin{tablenotes}\footnotesize")
        if table.note:
            lines.append(rf"\item[] {escape(table.note)}")
        lines += [rf"\item[{number}] {escape(text)}" for number, text in enumerate(footnotes, start=1)]
        lines.append(r"\end{tablenotes}")
    lines += [r"\end{threeparttable}", r"\end{table}"]
    return "\n".join(lines) + "\n"
