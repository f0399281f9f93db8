import pytest
from triptych_lint.dependencies import is_allowed


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("GPL-3.0-only/MIT", True),
        ("MIT AND (GPL-3.0-only OR ISC)", True),
        ("(Apache-2.0 WITH LLVM-exception)", True),
        ("", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT) ISC", False),
    ],
)
def test_licences(expression: str, allowed: bool) -> None:
    assert is_allowed(expression, ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]) == allowed
