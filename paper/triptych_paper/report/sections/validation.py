"""How far the model can be believed: against measured cycles here, against published counters, and by parameter."""

from __future__ import annotations

from triptych_paper.lookup import has_model
from triptych_paper.report.model import Data, Section
from triptych_paper.report.validation import host, parameters, published
from triptych_paper.validation import model_settings

TITLE = "How far the model can be believed"


def build(data: Data) -> Section:
    """Build the comparison with lockstep, the one with the published counters, and the sensitivities."""
    if not has_model(data.run):
        missing = "Not measured: this run did not use the backend model."
        return Section("validation", TITLE, missing=(missing,))
    version = model_settings(data.run).get("version")
    text = (
        "The model runs the instructions that a driver executed through a model of a named processor"
        f"{f' (version {version} of the model)' if version else ''}. Its counts are exact, and everything else is a "
        "prediction. No parameter is fitted to a driver or to a published value: each comes from the source that the "
        "CPU file names. This section shows how far the predictions are from what was measured and published."
    )
    parts = [part.build(data) for part in (host, published, parameters)]
    return Section(
        "validation",
        TITLE,
        (text, *(paragraph for part in parts for paragraph in part.text)),
        tuple(table for part in parts for table in part.tables),
        tuple(figure for part in parts for figure in part.figures),
        tuple(reason for part in parts for reason in part.missing),
    )
