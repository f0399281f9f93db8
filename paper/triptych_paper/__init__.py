"""Turn a results folder into tables, figures and verdicts, beside the published figures.

The package reads ``results/<id>/``, ``paper/published/`` and ``perfcounters/record/metrics.toml``. It does not
depend on the drivers or on the way to measure them.
"""

__version__ = "0.2.0"
