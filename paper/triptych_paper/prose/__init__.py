"""Figures in prose, generated from the archived run.

``archive`` reads ``paper/example``, ``blocks`` renders the templates in ``paper/prose``, ``documents`` replaces the
blocks between the markers of a Markdown file, and ``unheld`` finds figures that stand outside of them.
"""
