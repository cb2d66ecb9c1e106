"""What one sentence asks of a machine, in English and other languages, and whom it speaks to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from framework.evidence.asks import Ask, addressed, addresses, asked, wishes
from framework.evidence.phrases import phrases
from framework.evidence.sieve import ALL, Sieve, chosen
from framework.evidence.tongues import CALLING, IDEAS, RULES, calls, heralded
from framework.evidence.wording import belief, resemblance
from framework.evidence.wordlists import words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "AIMED",
    "HEARD",
    "LEAST_WORDS",
    "NOTHING",
    "WORDED",
    "Hearer",
    "Hit",
    "May",
    "may_hold",
]


@dataclass(frozen=True, slots=True)
class Hit:
    """One sign of an order in a sentence: the kind of warning, its belief, where it stands."""

    kind: str
    weight: float
    start: int
    end: int


#: What every order has; a wording that is found without it is none.
_ANCHOR = re.compile(
    r"ignor|disregard|forget|overr|bypass|discard|dismiss|abandon|discontinue|cease|halt|quit|"
    r"stop|set aside|aside|throw|follow|obey|comply|convert|carry|command|creator|order you|"
    r"simulation|though you|if you had|game where|grand(?:mother|ma)|vault|evaluator|reviewer|"
    r"grader|"
    r"message|machine|any summary|allowed|permitted|free to|overwrite|nullif|annul|role|filter|"
    r"safety|for (?:the )?ai|pretend|environment|"
    r"put|rank|recommend|tell|state|book|pay|click|visit|limit|card|mention|translat|omit|"
    r"screening|hiring|criteri|download|needs?\b|speak|when|while|star\b|change|reset|cancel|"
    r"\badd\b|show|hand over|ransom|wipe|logs?\b|login|direction|consider|treat|permission|"
    r"share|grant|do as|do what|do exactly|decoy|"
    r"assignment|purpose|whatever|regardless|instead|behalf|give|list|"
    r"instruct|prompt|rules?\b|guideline|directive|polic(?:y|ies)|supersede|precedence|"
    r"you are|you're|your\b|you (?:must|should|may|will|have|confirmed|agreed)|from (?:now|here|"
    r"this)|act as|pretend|assume|behave|roleplay|role-play|"
    r"\bais?\b|\bllms?\b|model|assistant|chat ?bot|chatgpt|gpt|claude|gemini|agent|bots?\b|mode\b|"
    r"persona|"
    r"reveal|system|developer|secret|hidden|password|credential|token|api[ _-]?key|cookie|the "
    r"user|users?'|conversation|"
    r"respond|reply|answer|output|append|summar|do not|don't|never|send|post|mail|forward|upload|"
    r"exfil|transfer|fetch|call|run|"
    r"decode|base64|execute|memory|delete|above|grant|obey|attacker|todo|important|everyone|"
    r"confirm|review|candidate|analysis|silently|secretly|"
    r"\[inst|<\||<<|begin|end of|approved|authori|_[a-z]+\b|\.ssh|/etc/|\.env"
)
_LATIN_WORD = re.compile(r"[a-z']+")
_ENGLISH = words("english")


class May(NamedTuple):
    """Which expressions of each kind a sentence may match, as bits."""

    phrases: int = ALL
    addresses: int = ALL
    wishes: int = ALL
    ideas: int = ALL
    calls: int = ALL


NOTHING = May(0, 0, 0, 0, 0)


@cache
def _sieve() -> tuple[Sieve, tuple[tuple[int, int], ...]]:
    """Return the sieve of all expressions; where each kind begins in it, and all bits of a kind."""
    kinds = (
        [phrase.source for phrase in phrases()],
        [address.source for address in addresses()],
        [wish.source for wish in wishes()],
        [IDEAS[name].pattern for name in _IDEAS],
        [CALLING.pattern],
    )
    starts = accumulate(map(len, kinds), initial=0)
    parts = tuple((start, (1 << len(kind)) - 1) for start, kind in zip(starts, kinds, strict=False))
    return Sieve([source for kind in kinds for source in kind]), parts


def may_hold(folded: str) -> May:
    """Return what a folded sentence may hold; what its words rule out need not be tried."""
    sieve, parts = _sieve()
    bits = sieve.possible(folded)
    return May(*[bits >> start & every for start, every in parts]) if bits else NOTHING


def _known(folded: str, may: May) -> Iterator[Hit]:
    """Yield the known wordings of orders in a folded sentence, and orders in other languages."""
    for phrase in chosen(phrases(), may.phrases):
        found = phrase.pattern.search(folded)
        if not found or not _ANCHOR.search(folded):
            continue
        if not _forbidden(folded, found.start(), phrase.kind):
            yield Hit(phrase.kind, phrase.weight, found.start(), found.end())
    ideas = {*chosen(_IDEAS, may.ideas)} if may.ideas & (may.ideas - 1) else ()
    if ideas and any(needed <= ideas for _, _, needed in RULES) and not _is_english(folded):
        yield from _foreign(folded, ideas)


#: Sentences after one that speaks to a machine which are taken to speak to it too.
HEARD = 3
#: What a sentence that is only worded like an order to a machine is called.
WORDED = "worded_as_order"
#: What text that speaks to nobody needs beyond the log-odds of other text: visible, and hidden.
_UNADDRESSED, _UNADDRESSED_UNSEEN = 1.8, 0.8
#: Log-odds of wording under which a sentence that speaks to nobody is not searched for wishes.
_HOPELESS = -5.0
#: Sentences of fewer words say too little to be judged by their wording.
LEAST_WORDS = 5
_CALLED = Ask("addressed_to_model", 0.35, 0, 0)
#: What markup says that is made for machines, without a word of its own.
AIMED = Ask("addressed_to_model", 0.35, 0, 0)


@dataclass(slots=True)
class Hearer:
    """Who the sentences of a text speak to, from one to the next."""

    unseen: bool
    heard: Ask | None = None
    left: int = 0
    odds: float | None = None

    def hits(self, folded: str, may: May | None = None) -> list[Hit]:
        """Return every sign of an order in a folded sentence, and of whom it is asked.

        `may` is what `may_hold` says of the sentence.
        """
        may = may or may_hold(folded)
        self.odds = resemblance(folded) if _is_judged(folded) else None
        if may is NOTHING and not self.left and (self.odds is None or not self._worded(None)):
            return []
        found = [*_known(folded, may)]
        if _is_list(folded):
            return found
        now = self._listen(folded, may)
        spoken = self.heard if self.left or now else None
        wishes = self._wishes(folded, now, spoken, may)
        found += [Hit(ask.kind, ask.weight, ask.start, ask.end) for ask in wishes]
        if spoken is not None and wishes:
            weight = spoken.weight if now else 0.8 * spoken.weight
            span = (now.start, now.end) if now else (wishes[0].start, wishes[0].end)
            found.append(Hit(spoken.kind, weight, *span))
        return found

    def _listen(self, folded: str, may: May) -> Ask | None:
        """Return how this sentence speaks to a machine; remember it for those that follow."""
        now = addressed(folded, may.addresses) if may.addresses else None
        if now is None and may.calls and calls(folded) and not _is_english(folded):
            now = _CALLED
        if now is not None:
            self.heard, self.left = now, HEARD
        elif self.left:
            self.left -= 1
        return now

    def _wishes(self, folded: str, now: Ask | None, spoken: Ask | None, may: May) -> list[Ask]:
        wishes: list[Ask] = []
        hopeless = spoken is None and self.odds is not None and self.odds < _HOPELESS
        if may.wishes and not hopeless:
            wishes = [
                ask
                for ask in asked(folded, may.wishes, spoken_to=spoken is not None)
                if not _forbidden(folded, ask.start, ask.kind)
                and (now is None or ask.end > now.end)
            ]
        if spoken is not None and not _is_english(folded):
            wishes += self._told(folded, now)
        if self.odds is not None and (worded := self._worded(spoken)):
            wishes.append(Ask(WORDED, worded, 0, len(folded)))
        return wishes

    def _worded(self, spoken: Ask | None) -> float:
        """Return the belief that wording alone gives."""
        lack = _UNADDRESSED_UNSEEN if self.unseen else _UNADDRESSED
        return belief((self.odds or 0.0) - (0.0 if spoken else lack))

    def _told(self, folded: str, now: Ask | None) -> list[Ask]:
        """Orders in other languages, of which only the form is known."""
        greeted = now is _CALLED and heralded(folded)
        told = IDEAS["told"].search(folded) or (greeted and IDEAS["form"].search(folded))
        if not told and not (self.unseen and greeted):
            return []
        span = told.span() if told else (0, len(folded))
        return [Ask("output_manipulation", 0.3 if told else 0.2, *span)]


_NOT = re.compile(r"(?:\b(?:not|never|cannot|nor|rather than|instead of)|n['’]t)\s+(?:\w+ )?$")
_REVERSIBLE = frozenset(
    {"credential_request", "exfiltration", "prompt_leak", "instruction_override"}
)
#: What somebody else does or could do, and what a setting is there for.
_TOLD_OF = re.compile(
    r"\byou (?:can|could|might) (?:also |always |even |then )?$"
    r"|\b(?!you\b|ais?\b|llms?\b|agents?\b|assistants?\b|now\b|then\b|and\b|also\b|immediately\b)"
    r"[\w']+ (?:will|would|might|could|did) $"
    r"|^\W*(?:set|edit|pass|use|add) [^.]{0,40}\bto $"
)


#: What an option of a program is there for.
_OPTION = re.compile(r"^\W*(?:use|set|pass|add|with|give) [`'\"]?--?[\w=-]+[`'\"]? to $")


def _forbidden(sentence: str, start: int, kind: str) -> bool:
    """Tell whether the sentence says not to do it: advice against an attack is none."""
    if _OPTION.search(sentence[:start]):
        return True
    if kind not in _REVERSIBLE:
        return False
    if kind == "instruction_override" and _TOLD_OF.search(sentence[max(0, start - 60) : start]):
        return True
    return bool(_NOT.search(sentence[max(0, start - 24) : start]))


def _is_list(folded: str) -> bool:
    """Tell key words and the like from prose: hardly two words from comma to comma."""
    commas = folded.count(",")
    return commas >= 6 and folded.count(" ") <= 2 * commas


def _is_judged(folded: str) -> bool:
    return folded.isascii() and folded.strip().count(" ") >= LEAST_WORDS - 1


def _is_english(folded: str) -> bool:
    if not folded.isascii():
        return False
    words = _LATIN_WORD.findall(folded)
    return sum(word in _ENGLISH for word in words) >= max(2, 0.12 * len(words))


_IDEAS = tuple(name for name in IDEAS if any(name in ideas for _, _, ideas in RULES))
#: The ideas of rules; what only counts beside another one comes after it.
_PLAIN_IDEAS = frozenset[str]().union(*(ideas for _, _, ideas in RULES)) - {"told"}


def _foreign(folded: str, among: set[str]) -> Iterator[Hit]:
    plain = _PLAIN_IDEAS & among
    present = {name: found for name in plain if (found := IDEAS[name].search(folded))}
    if "mind" in present and (told := IDEAS["told"].search(folded)):
        present["told"] = told
    for kind, weight, ideas in RULES:
        if ideas <= present.keys():
            spans = [present[name] for name in ideas]
            yield Hit(kind, weight, min(s.start() for s in spans), max(s.end() for s in spans))
