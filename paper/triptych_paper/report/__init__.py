"""The report of a run: sections of tables and figures, and the formats in which they are written.

``model`` defines a section. Each module of ``sections`` builds one. ``html`` and ``figures`` turn sections into
documents, and ``files`` writes all files. To add a section, write a module with a function ``build`` and name it in
``sections.SECTIONS``.
"""
