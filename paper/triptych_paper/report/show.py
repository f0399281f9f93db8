"""Show one section of a run's report as Markdown.

Usage: ``python -m triptych_paper.report.show results/latest ladder``

Ends with 0; 1 if a file is missing or malformed; 2 on a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from triptych_paper.records import DataError
from triptych_paper.report import markdown
from triptych_paper.report.build import build, read_data
from triptych_paper.report.model import Section


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.report.show", description="Show one section of a run's report as Markdown."
    )
    parser.add_argument("run", type=Path, help="a results folder, such as results/latest")
    parser.add_argument("section", help="its key, such as ladder")
    options = parser.parse_args(arguments)
    try:
        sections = {section.key: section for section in build(read_data(options.run)).sections}
        if options.section not in sections:
            parser.error(f"there is no section {options.section}: one of {', '.join(sections)}")
        print(text(sections[options.section]), end="", flush=True)
    except DataError as error:
        print(f"triptych_paper.report.show: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read it has seen enough of it. Without this, Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def text(section: Section) -> str:
    """Title, paragraphs and tables."""
    parts = [f"## {section.title}\n", *(f"{paragraph}\n" for paragraph in (*section.text, *section.missing))]
    parts += [markdown.render(table) for table in section.tables]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
