"""The model of all tables, and the formats in which they are written.

``model`` defines a table. ``terminal``, ``markdown`` and ``latex`` each write one format; the report's template writes
HTML.
"""
