from collections.abc import Callable

import pytest
from triptych_lint.circles import upward
from triptych_lint.imports import c_imports, circle, python_imports
from triptych_lint.repository import Repository
from triptych_lint.rust_imports import Crate

NOTHING_IMPORTED = """//! [`crate::a::A`]
/* use crate::a::A; */
const TEXT: &str = "crate::a::A"; const RAW: &str = r#"crate::a::"A"#; const QUOTE: char = '"';
fn life<'a>(x: &'a str) -> &'a str { x }
#[cfg(test)]
use crate::a::A;
pub struct B {
    #[cfg(test)]
    seen: crate::a::A,
    other: u8,
}
#[cfg(test)]
mod tests {
    const TEXT: &str = "a
b";
    use crate::a::{A};
}
"""
# The files of a crate, `a__b` for `a/b.rs`, and a circle in them.
RUST = {
    "two files": (
        {"lib": "mod a;\nmod b;", "a": "use crate::b::B;\npub struct A(B);", "b": "\nuse super::a::{self, A};"},
        "a.rs:1 -> b.rs:2 -> a.rs",
    ),
    "a parent and a child": (
        {
            "lib": "mod device;",
            "device__mod": "mod queue;\npub struct Device;\nfn run() { queue::poll() }",
            "device__queue": "use super::Device;\npub fn poll() {}",
        },
        "device/mod.rs:3 -> device/queue.rs:1 -> device/mod.rs",
    ),
    "a parent that only re-exports": (
        {
            "lib": "mod device;",
            "device": "mod card; mod queue; pub use card::Device; pub use queue::Queue;",
            "device__card": "use super::{queue::{Queue as Line}}; pub struct Device(Line);",
            "device__queue": "pub struct Queue;",
        },
        None,
    ),
    "a re-export leads to the definition": (
        {
            "lib": "mod a; mod facade;",
            "a": "use crate::facade::Part; pub struct A;",
            "facade": "mod part; pub use part::Part;",
            "facade__part": "pub struct Part(crate::a::A);",
        },
        "a.rs:1 -> facade/part.rs:1 -> a.rs",
    ),
    "no comments, texts and tests": (
        {
            "lib": "mod a; mod b;\n#[cfg(test)]\nmod c;",
            "a": "use crate::b::B;",
            "b": NOTHING_IMPORTED,
            "c": "use crate::a;",
        },
        None,
    ),
}


@pytest.mark.parametrize(("files", "found"), RUST.values(), ids=RUST)
def test_rust(tree: Callable[..., Repository], files: dict[str, str], found: str | None) -> None:
    root = tree({f"{name.replace('__', '/')}.rs": text for name, text in files.items()}).root
    said = circle(Crate(root / "lib.rs", root).imports())
    # A circle has no first file.
    assert said is found is None or set(str(said).split(" -> ")[:-1]) == set(str(found).split(" -> ")[:-1])


def test_c_files_that_call_each_other_or_share_a_header(tree: Callable[..., Repository]) -> None:
    files = {
        "a.h": "int a_start(void);\n",
        "b.h": '#include "a.h"\nint b_start(void);\n',
        "a.c": '#include "a.h"\n#include "b.h"\nint a_start(void)\n{\n\treturn b_start();\n}\n',
        "b.c": '#include "b.h"\nint b_start(void)\n{\n\treturn 1; /* a_start */\n}\n',
    }
    root = tree(files).root
    assert circle(c_imports(root, root)) is None
    tree({"b.c": files["b.c"].replace("return 1", "return a_start()")})
    assert circle(c_imports(root, root)) == "a.c:5 -> b.c:4 -> a.c"


def test_python_modules(tree: Callable[..., Repository]) -> None:
    files = {"__init__": "", "a": "from package import b\n", "b": "def f():\n    from package.c import g\n"}
    files |= {"c": "import package.a\n", "d": "from package import a\n"}
    root = tree({f"package/{name}.py": text for name, text in files.items()}).root
    found = circle(python_imports(root / "package", root))
    assert found is not None and "package/b.py:2 -> package/c.py" in found and "d.py" not in found


def test_an_import_of_a_higher_room_is_named_with_its_line() -> None:
    imports = {
        "c/src/driver/rx.c": {"c/src/rooms/health.h": 3},
        "c/src/rooms/health.c": {"c/src/driver/rx.h": 1},
        "c/src/driver_more/a.c": {"c/src/rooms/health.h": 1},
    }
    found = upward(imports, {"c/src": [["driver"], ["rooms"], ["apps"]]})
    assert found == ["c/src/driver/rx.c:3 imports c/src/rooms/health.h: c/src/driver does without c/src/rooms"]
