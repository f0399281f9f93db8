import pytest
from triptych_lint import dependencies

LICENCES = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only/MIT", True),
        ("MIT AND (GPL-3.0-only OR ISC)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT) ISC", False),
    ],
)
def test_licences(expression: str, allowed: bool) -> None:
    crate = {"id": "new 1.0", "name": "new", "license": expression, "source": "registry"}
    metadata = {"packages": [crate], "resolve": {"nodes": [{"id": "new 1.0"}]}}
    refused = [f"crate new has the licence `{expression}`: replace it, or allow the licence in bench/lint/rules.toml"]
    assert dependencies.licence_problems(metadata, LICENCES) == ([] if allowed else refused)
