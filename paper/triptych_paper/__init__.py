"""Turns a results folder into tables, beside the published figures.

Reads only ``results/<id>/`` and ``paper/published/``; knows nothing of drivers or of how they are measured.
"""
