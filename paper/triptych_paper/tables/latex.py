"""Tables as LaTeX, for a paper that uses the packages ``booktabs`` and ``threeparttable``."""

from __future__ import annotations

from triptych_paper.tables.model import Cell, Column, Footnotes, Table, sentence

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
"""Characters that LaTeX takes for commands, or that its oldest encodings do not have."""

SHORT = 40
"""Columns of text with a longer field than this break it into lines."""


def escape(text: str) -> str:
    """Escape the characters of :data:`SPECIAL`."""
    return "".join(SPECIAL.get(character, character) for character in text)


def render(table: Table) -> str:
    """Write a `table` environment with the footnotes below."""
    footnotes = Footnotes([table])

    def marks(item: Cell | Column) -> str:
        numbers = ",".join(str(number) for number in footnotes.marks(item))
        return rf"\tnote{{{numbers}}}" if numbers else ""

    def field(cell: Cell) -> str:
        text = escape(cell.text) + marks(cell)
        if not cell.detail:
            return text
        lines = r"\\".join([text, *(rf"{{\scriptsize {escape(line)}}}" for line in cell.detail)])
        return rf"\shortstack[r]{{{lines}}}"

    spec = "".join(_layout(table, index, column) for index, column in enumerate(table.columns))
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
    if footnotes.texts or table.note:
        lines.append(r"\begin{tablenotes}\footnotesize")
        if table.note:
            lines.append(rf"\item[] {escape(table.note)}")
        lines += [rf"\item[{number}] {escape(sentence(text))}" for number, text in enumerate(footnotes.texts, start=1)]
        lines.append(r"\end{tablenotes}")
    lines += [r"\end{threeparttable}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _layout(table: Table, index: int, column: Column) -> str:
    """Return the column's letter in the preamble of `tabular`."""
    if column.numeric:
        return "r"
    longest = max((len(row[index].text) for row in table.rows), default=0)
    return "l" if longest <= SHORT else r"p{0.3\linewidth}"
