"""The published claims, and what a run says about each.

``model`` defines claims and outcomes. ``reader`` reads ``paper/claims.toml``, ``expressions`` computes its formulas,
and ``check`` gives the verdicts.
"""
