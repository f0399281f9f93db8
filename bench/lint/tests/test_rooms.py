from triptych_lint.graph import ImportGraph
from triptych_lint.rooms import upward


def test_an_import_of_a_higher_folder_is_named_with_its_line() -> None:
    graph = ImportGraph("c")
    graph.add("c/src/driver/rx.c", "c/src/rooms/health.h", 3)
    graph.add("c/src/driver/rx.c", "c/src/driver/rx.h", 2)
    graph.add("c/src/rooms/health.c", "c/src/driver/rx.h", 1)
    # A folder whose name only begins alike.
    graph.add("c/src/driver_more/a.c", "c/src/rooms/health.h", 1)
    found = upward(graph, {"c/src/driver": ["c/src/rooms", "c/src/apps"]})
    assert found == ["c/src/driver/rx.c:3 imports c/src/rooms/health.h: c/src/driver does without c/src/rooms"]
