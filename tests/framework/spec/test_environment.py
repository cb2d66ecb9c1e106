"""Keys and settings from the operator's environment."""

from __future__ import annotations

import pytest

from framework.spec.environment import disabled, key_values, setting_values
from tests.support.specs import engine, spec_text

_KEYED = spec_text(
    keys="{api: {env: [X_KEYS, X_KEY]}, mail: {env: X_MAIL, optional: true}}",
    settings="{base: {env: [X_URL, Y_URL]}, cx: {env: X_CX, default: abc},"
    " note: {env: X_NOTE, optional: true}}",
)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, (), id="none"),
        pytest.param({"X_KEY": "a"}, ("a",), id="one"),
        pytest.param({"X_KEYS": "a, b,,c "}, ("a", "b", "c"), id="list"),
        pytest.param({"X_KEYS": "a,b", "X_KEY": "b"}, ("a", "b"), id="each-once"),
        pytest.param({"X_KEYS": " , "}, (), id="blank"),
    ],
)
def test_keys_of_a_pool(environ: dict[str, str], expected: tuple[str, ...]) -> None:
    assert key_values(engine(_KEYED).keys["api"], environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, {"cx": "abc"}, id="default"),
        pytest.param({"X_CX": "z", "Y_URL": "u"}, {"cx": "z", "base": "u"}, id="given"),
        pytest.param({"X_URL": "", "Y_URL": "u"}, {"cx": "abc", "base": "u"}, id="empty-is-unset"),
    ],
)
def test_settings(environ: dict[str, str], expected: dict[str, str]) -> None:
    assert setting_values(engine(_KEYED).spec, environ) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, "no key in X_KEYS or X_KEY", id="no-key"),
        pytest.param({"X_KEY": "a"}, "no setting in X_URL or Y_URL", id="no-setting"),
        pytest.param({"X_KEY": "a", "X_URL": "u"}, "", id="usable"),
    ],
)
def test_why_an_engine_is_disabled(environ: dict[str, str], expected: str) -> None:
    assert disabled(engine(_KEYED).spec, environ) == expected
