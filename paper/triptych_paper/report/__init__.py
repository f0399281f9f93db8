"""The report of a run: sections of tables and figures, and the forms in which they are written.

``model`` says what a section is; each module of ``sections`` builds one; ``markdown``, ``latex``, ``html`` and
``figures`` turn them into files, ``files`` writes those. To add a section, write a module with a function ``build`` and
name it in ``sections.SECTIONS``.
"""
