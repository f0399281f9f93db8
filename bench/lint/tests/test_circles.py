from pathlib import Path

from triptych_lint.c_imports import c_graph
from triptych_lint.graph import ImportGraph
from triptych_lint.python_imports import python_graph
from triptych_lint.rust_imports import Crate


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def rust_chains(folder: Path, **files: str) -> list[str]:
    """The circles of a crate; `a__b` stands for `a/b.rs`."""
    write(folder, {f"{name.replace('__', '/')}.rs": text for name, text in files.items()})
    return chains(Crate(folder / "lib.rs", folder).graph())


def chains(graph: ImportGraph) -> list[str]:
    return [chain for group in graph.groups() for chain in graph.chains(group)]


def test_two_files_that_use_each_other(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod a;\nmod b;\n",
        a="use crate::b::B;\npub struct A(B);\n",
        b="\nuse super::a::{self, A};\npub struct B(a::C, A);\n",
    )
    assert found == ["a.rs:1 -> b.rs:2 -> a.rs"]


def test_the_shortest_circle_through_each_file_is_shown(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod a; mod b; mod c; mod d;",
        a="use crate::b::B; pub struct A;",
        b="use crate::c::C; use crate::a::A; pub struct B;",
        c="fn f() { let x = crate::a::A; }",
        d="use crate::a::A;",
    )
    assert found == ["a.rs:1 -> b.rs:1 -> a.rs", "a.rs:1 -> b.rs:1 -> c.rs:1 -> a.rs"]


def test_a_parent_and_a_child_that_need_each_other(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod device;",
        device__mod="mod queue;\npub struct Device;\nfn run() { queue::poll() }\n",
        device__queue="use super::Device;\npub fn poll() {}\n",
    )
    assert found == ["device/mod.rs:3 -> device/queue.rs:1 -> device/mod.rs"]


def test_a_parent_that_only_declares_and_re_exports(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod device;",
        device="mod card; mod queue; pub use card::Device; pub use queue::*;",
        device__card="use super::queue::Queue; pub struct Device(Queue);",
        device__queue="pub struct Queue;",
    )
    assert found == []


def test_a_re_export_leads_to_the_file_that_defines_the_item(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod a; mod facade;",
        a="use crate::facade::Part; pub struct A;",
        facade="mod part; pub use part::*;",
        facade__part="pub struct Part(crate::a::A);",
    )
    assert found == ["a.rs:1 -> facade/part.rs:1 -> a.rs"]


def test_comments_strings_and_test_code_import_nothing(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod a; mod b; #[cfg(test)] mod fixture;",
        a="use crate::b::B; pub struct A;",
        b="""//! [`crate::a::A`]
        /* use crate::a::A; /* nested */ */
        const TEXT: &str = "crate::a::A"; const RAW: &str = r#"crate::a::"A"#; const QUOTE: char = '"';
        fn life<'a>(x: &'a str) -> &'a str { x }
        #[cfg(test)]
        use crate::a::A;
        struct B { #[cfg(test)] seen: crate::a::A, other: u8 }
        #[cfg(test)]
        mod tests { use crate::a::{A}; }
        """,
        fixture="use crate::a::A;",
    )
    assert found == []


def test_paths_in_macros_and_inline_modules(tmp_path: Path) -> None:
    found = rust_chains(
        tmp_path,
        lib="mod a; mod b;",
        a='fn f() { println!("{}", crate::b::name()); }  pub fn g() {}',
        b="mod inner { pub fn h() { super::super::a::g() } }\npub fn name() {}",
    )
    assert found == ["a.rs:1 -> b.rs:1 -> a.rs"]


def test_c_files_that_call_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.h": "int a_start(void);\n",
            "b.h": "int b_start(void);\n",
            "a.c": '#include "a.h"\n#include "b.h"\nint a_start(void)\n{\n\treturn b_start();\n}\n',
            "b.c": '#include "a.h"\n#include "b.h"\nint b_start(void)\n{\n\treturn a_start(); /* b_start */\n}\n',
        },
    )
    assert chains(c_graph(tmp_path, tmp_path)) == ["a.c:5 -> b.c:5 -> a.c"]


def test_c_files_that_share_a_header(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.h": "struct a { int x; };\n",
            "a.c": '#include "a.h"\n#include "b.h"\nint a_start(struct a *a)\n{\n\treturn b_start(a);\n}\n',
            "b.h": '#include "a.h"\nint b_start(struct a *a);\n',
            "b.c": '#include "b.h"\nint b_start(struct a *a)\n{\n\treturn a->x;\n}\n',
        },
    )
    assert chains(c_graph(tmp_path, tmp_path)) == []


def test_python_modules(tmp_path: Path) -> None:
    package = write(
        tmp_path / "package",
        {
            "__init__.py": "",
            "a.py": "from package import b, c\n",
            "b.py": "def f():\n    from .c import g\n",
            "c.py": "import package.a\n",
            "d.py": "from package import a\n",
        },
    )
    assert chains(python_graph(package, tmp_path)) == [
        "package/a.py:1 -> package/c.py:1 -> package/a.py",
        "package/a.py:1 -> package/b.py:2 -> package/c.py:1 -> package/a.py",
    ]
