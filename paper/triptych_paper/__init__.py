"""Turn a results folder into tables, figures and verdicts, beside the published figures.

The package reads ``results/<id>/``, ``paper/published/`` and ``perfcounters/record/metrics.toml``. It knows nothing of
the drivers or of how they are measured.
"""
