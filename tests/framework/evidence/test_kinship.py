"""Words borne out by other words, and words that a text excludes."""

from __future__ import annotations

import pytest

from framework.evidence.kinship import borne_out, kin
from framework.evidence.signals import facts


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        pytest.param("The movie was shot in May.", "The film was shot in May.", id="same"),
        pytest.param("A novelist lives here.", "A writer lives here.", id="kind"),
        pytest.param("She was born in Marseille.", "She was born in France.", id="place within"),
        pytest.param("A Dutch painter.", "A painter of the Netherlands.", id="people"),
        pytest.param("Two dogs are barking.", "Two animals are barking.", id="plural kind"),
    ],
)
def test_borne_out(text: str, claim: str) -> None:
    assert borne_out(facts(claim), facts(text))


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        pytest.param("A musician lives here.", "A drummer lives here.", id="kind for member"),
        pytest.param(
            "She was born in France.", "She was born in Marseille.", id="country for town"
        ),
        pytest.param("Two dogs are barking.", "Two dogs are sleeping.", id="other word"),
    ],
)
def test_not_borne_out(text: str, claim: str) -> None:
    assert not borne_out(facts(claim), facts(text))


def test_another_country_is_elsewhere() -> None:
    found = kin(facts("The bridge stands in Spain."), facts("The bridge stands in Osaka."))
    assert (found.elsewhere, found.within, found.left) == (1, 0, ("spain",))


def test_a_town_of_the_named_country_is_only_narrower() -> None:
    found = kin(facts("The bridge stands in Kyoto."), facts("The bridge stands in Japan."))
    assert (found.narrower, found.elsewhere) == (1, 0)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("The table is made of oak and glass.", 1, id="another material"),
        pytest.param("The table is made by hand.", 0, id="no material"),
    ],
)
def test_rivals(text: str, count: int) -> None:
    assert kin(facts("The table is made of steel."), facts(text)).rivals == count


def test_a_rival_that_the_claim_names_too_does_not_count() -> None:
    text = facts("The table is made of glass.")
    assert kin(facts("The table is made of glass and steel."), text).rivals == 0
