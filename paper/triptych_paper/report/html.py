"""The report as one self-contained HTML page, and as PDF."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from triptych_paper.errors import DataError
from triptych_paper.report.figures import DARK, LIGHT, css_colours, recolour, variables
from triptych_paper.report.model import Report

TEMPLATES = Path(__file__).parent / "templates"
FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
"""matplotlib includes fonts, so the PDF does not need the system's."""


def page(report: Report, drawings: Mapping[str, str], for_print: bool = False) -> str:
    """Return the page. `drawings` are the figures' SVGs in light colours, by key.

    With `for_print` the page suits :func:`pdf`: always light, with page numbers.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["fonts"] = FONTS.as_uri()
    styles = Markup(
        environment.get_template("report.css").render(light=variables(LIGHT), dark=variables(DARK), for_print=for_print)
    )
    shown = {key: Markup(svg if for_print else recolour(svg, css_colours())) for key, svg in drawings.items()}
    return environment.get_template("report.html").render(report=report, drawings=shown, styles=styles)


def pdf(report: Report, drawings: Mapping[str, str]) -> bytes:
    """Return the report as PDF; :class:`DataError` if a system library is missing."""
    # Without this, the date makes two PDFs of the same run differ.
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    try:
        import weasyprint
    except OSError as error:
        raise DataError(
            f"cannot write the PDF: a system library is missing ({error}); `bench/setup/setup.sh paper` installs it"
        ) from None
    # WeasyPrint warns of each property that only SVG has.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    document = weasyprint.HTML(string=page(report, drawings, for_print=True), base_url=str(TEMPLATES))
    written: bytes = document.write_pdf()
    return written
