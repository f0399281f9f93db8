"""The published claims, and their verdicts for a run.

``model`` defines claims and outcomes. ``reader`` reads ``paper/claims.toml``, ``expressions`` computes its formulas,
and ``check`` gives the verdicts.
"""
