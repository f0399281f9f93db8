from pathlib import Path
from typing import Any

from repository_fixture import repository
from triptych_lint.locks import lock_problems


def metadata() -> dict[str, Any]:
    needed = [("serde", None), ("cc", "build"), ("proptest", "dev")]
    dependencies = [{"name": name, "kind": kind} for name, kind in needed]
    own = {"name": "apps", "source": None, "dependencies": dependencies}
    return {"packages": [own, {"name": "serde", "source": "registry", "dependencies": []}]}


def lock(*dependencies: str) -> str:
    fuzzer = '[[package]]\nname = "apps-fuzz"\ndependencies = ["apps"]\n'
    foreign = '[[package]]\nname = "serde"\nsource = "registry"\n'
    return f'{fuzzer}{foreign}[[package]]\nname = "apps"\ndependencies = {list(dependencies)}\n'


def test_a_lock_that_lacks_a_dependency_is_named_with_the_fix(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "Cargo.lock": lock(),
        "a/fuzz/Cargo.lock": lock("cc", "serde 1.0.0"),
        "b/fuzz/Cargo.lock": lock("cc"),
    }
    assert lock_problems(repository(tmp_path, files), metadata()) == [
        "b/fuzz/Cargo.lock: apps depends on serde, which the file lacks: run `cargo metadata >/dev/null` in b/fuzz"
    ]
