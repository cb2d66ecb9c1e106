"""Find instructions aimed at the model that reads a page, wherever on the page they hide."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import re2

from framework.evidence.disguise import fold, plain, signs_of, uncovered
from framework.evidence.hearing import (
    AIMED,
    HEARD,
    LEAST_WORDS,
    NOTHING,
    WORDED,
    Hearer,
    Hit,
    may_hold,
)
from framework.evidence.sieve import set_of
from framework.evidence.surfaces import Surface, surfaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Finding", "Safety", "mark", "scan"]

#: Score from which a page is of medium risk, and of high risk.
MEDIUM, HIGH = 0.4, 0.75
#: Findings that a report lists.
MAX_WARNINGS = 20
#: Sentences longer than this are looked at in pieces, so that every pattern's work is bounded.
_PIECE = 600
#: Texts of fewer characters, all of ASCII, may be judged by their words before any other look.
_FEW = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One dangerous span: what it tries (`type`), how sure that is, where it stands.

    `severity` is low, medium or high; `location` is visible, hidden, comment, metadata, attribute
    or script, with what hides it in brackets; `snippet` is at most 200 characters.
    """

    type: str
    severity: str
    location: str
    dom_path: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Safety:
    """What a page tries on its reader: `risk` low, medium or high, `score` 0 to 1, the findings."""

    risk: str
    score: float
    warnings: tuple[Finding, ...] = ()


_SENTENCE = re.compile(
    r"[^.!?。！？\n।؟]+(?:[.!?](?!\s|$)[^.!?。！？\n।؟]*)*[.!?。！？।؟]*\s*|\n+|[.!?。！？।؟]+"
)
#: Marks that only the plumbing of a chat writes: on a page they want to pass for it.
_DELIMITERS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|"
    r"end_header_id|eot_id|channel|message)\|?>?"
    r"|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|^[ \t]*</?(?:system|assistant|instructions?|untrusted|document|web_?page|context|"
    r"tool_result|tool_response|function_results?|search_results?|user_query|admin|operator|developer|"
    r"information)(?:[ _-]?\w*)?(?:[ \t]+[\w-]+=[^>\n]{0,60})?>[ \t]*\S?"
    r"|^[ \t]*</[\w-]{2,30}>\s*<(?:system|user|assistant|operator|admin|developer|instructions?)\b"
    r"|\{\{[#/]?(?:system|assistant|user|developer)[~ }]"
    r"|^[ \t]*[#=*_~-]{3,}[ \t]*(?:system|operator|admin(?:istrator)?|developer|transcript resumes|"
    r"conversation resumes|user)\b[^\n]{0,30}?[#=*_~-]{3,}"
    r"|\[(?:assistant|ai|model)(?: \w+){0,2}\][ \t]+\w"
    r"|^[ \t]*<(?:end|start|begin) of (?:session|conversation|document|page|context|input|data|"
    r"prompt)[^>\n]{0,20}>"
    r"|^[ \t]*(?:[-=#*_]{3,}|\[)[ \t]*(?:end|begin|start|new|stop) (?:of )?(?:the )?(?:web ?page|"
    r"document|context|user|system|data|untrusted|input|prompt|instructions?|conversation|session|"
    r"content|article|search results?|results)\b[^\n]{0,40}?(?:[-=#*_]{3,}|\])"
    r"|^[ \t]*#{1,6}[ \t]*(?:system|instruction|new instructions?|assistant|human|user|response)[ "
    r"\t]*:"
    r"|^[ \t]*```[ \t]*(?:system|assistant|instructions?|prompt)\b"
    r"|^[ \t]*(?:\*\*)?(?:human|user|assistant|system)(?:\*\*)?[ \t]*[:：][ \t]*\S.{0,80}?\b(?:you|"
    r"your|please|now|ignore|send|reveal|provide|only|must|sure|i will|follow|new)\b"
    r"|\{\s*[\"']role[\"']\s*:\s*[\"'](?:system|assistant|user|developer)[\"']"
    r"|^---\s*\n\s*system\s*:"
    r"|\[(?:system|assistant|admin)\]\s*(?:\(#|:)|^[ \t]*\[(?:system|admin|developer)\][ "
    r"\t]+\S.{0,80}?\b(?:you|user|your|must|now|ignore|grant)\b",
    re.IGNORECASE | re.MULTILINE,
)
#: What every one of these marks has; `.{1,2}` is an i of any language.
_DELIMITER_SIGN = set_of(
    (
        r"(?i)<|\[|\{|```|[#=*_~-]{3}",
        r"(?i)#[ \t]*(?:system|.{1,2}nstruct.{1,2}on|new|ass.{1,2}stant|human|user|response)",
        r"(?i)(?:human|user|ass.{1,2}stant|system)(?:\*\*)?[ \t]*[:：]",
    )
)
_QUOTED = re.compile(
    r"(?<!=)\"[^\"\n]{2,240}\"|“[^”\n]{2,240}”|‘[^’\n]{2,240}’|«[^»\n]{2,240}»|„[^“\n]{2,240}“|"
    r"「[^」\n]{2,240}」|`[^`\n]{1,240}`"
    r"|(?:(?<=\s)|(?<=[(\[:,]))'[^\n]{2,240}?'(?=[\s.,;:!?)\]]|$)|<!--.{0,240}?-->"
)
#: Words of those who write about attacks, not of those who try one.
_ABOUT = re.compile(
    r"(?<![.\w@/-])(?:attack(?:s|ers?|ed)?|injections?|jailbreaks?|jailbreaking|adversar\w+|"
    r"malicious|exploits?|vulnerabilit\w+|detect\w*|defen[cs]e\w*|defend\w*|researchers?|"
    r"classif\w+|datasets?|benchmarks?|phishing|scams?|such as|e\.g\.|for example|for instance|"
    r"phrases? like|like the|typed|prompts that|comments? like|payloads?|red.?team\w*|mitigat\w+|"
    r"spotlighting|incident|threats?|risk groups?|examples?|studies|paper shows?|showed|"
    r"demonstrat\w+|describ\w+|explain\w*|so-called|known as|trick(?:s|ed)?|attempts?|"
    r"(?:is|are|was|were|been|attack|technique|method|trick) called|"
    r"tries to)\b(?!\.\w)"
    r"|研究人员|研究者|攻击|攻擊|漏洞|攻撃|実験|脆弱|연구진|공격|باحث|هجوم|исследовател|атак|уязвимост"
    r"|\b(?:angriff|angreifer|forscher|sicherheitslucke|chercheurs|attaque|faille|investigadores|ataque|"
    r"vulnerabilidad|ricercatori|attacc[oh]|pesquisadores|vulnerabilita|onderzoekers|badacz)"
)
#: Speech within a story: a quotation with somebody who speaks it.
_TOLD = re.compile(
    r"[\"“”„«»'‘’][,.!?]?\s*(?:[\w-]+ ){0,2}?(?:said|whispered|replied|shouted|asked|murmured|"
    r"cried|muttered|answered|snapped|ordered|bowed|hissed|laughed|sighed|called|told)\b"
    r"|\b(?:said|whispered|replied|shouted|murmured|muttered|hissed)[:,]? ?[\"“„«'‘]"
)
_SUBJECT = re.compile(
    r"\b(?:prompt[ -]injections?|jailbreak\w*|red.?team\w*|llm security|adversarial (?:prompts?|"
    r"attacks?)|guardrails? (?:for|against)|owasp)\b"
)
_SUBJECT_SIGN = re2.compile(
    r"(?i)prompt.injection|jailbreak|red.?team|llm security|adversarial|guardrail|owasp"
)
_ADDRESS = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.\w[\w.-]*")


def scan(body: bytes | str) -> Safety:
    """Look for text on a page or in a document that gives orders to the model reading it.

    Reads what a visitor sees and what only the source shows (hidden by style, attribute, comment,
    metadata, script, odd characters or a code), in some thirty languages. Text that speaks about
    such attacks (quotations, code, articles on security) counts less. Takes time linear in the
    length; never raises; finds nothing in an empty body.
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    about = _is_about_attacks(text)
    found: list[tuple[float, Finding]] = []
    belief: dict[str, float] = {}
    silent: set[tuple[str, bool, bool]] = set()
    for surface in surfaces(text):
        said = (surface.text, surface.place != "visible", surface.aimed)
        if said in silent or _says_nothing(surface):
            continue
        heard = [*_read(surface, about)]
        if not heard:
            silent.add(said)
        for weight, finding in heard:
            found.append((weight, finding))
            key = f"{finding.type} {finding.location}"
            belief[key] = max(belief.get(key, 0.0), weight)
    return _safety(found, belief.values())


def _safety(found: list[tuple[float, Finding]], beliefs: Iterable[float]) -> Safety:
    doubt = 1.0
    for weight in beliefs:
        doubt *= 1.0 - min(weight, 0.95) if weight >= MEDIUM else 1.0
    score = round(1.0 - doubt, 3)
    if score < MEDIUM:
        return Safety("low", round(max((w for w, _ in found), default=0.0), 3))
    found.sort(key=lambda pair: -pair[0])
    kept = tuple(finding for weight, finding in found if weight >= MEDIUM)
    return Safety("high" if score >= HIGH else "medium", score, kept[:MAX_WARNINGS])


def _is_about_attacks(text: str) -> bool:
    """Tell whether a page names the subject twice; nearly all lack all of its words."""
    if not _SUBJECT_SIGN.search(text[:400_000].encode("utf-8", "replace")):
        return False
    return len(_SUBJECT.findall(text[:400_000].lower())) >= 2


_UNSEEN_FACTOR = 1.2


def _read(surface: Surface, about: bool) -> Iterator[tuple[float, Finding]]:
    """Yield weighted findings of a surface: what it says, and what it says in another spelling."""
    unseen = surface.place != "visible"
    for sentence, weight, kind in _orders(surface, about, unseen):
        yield weight, _finding(surface, kind, weight, sentence, "")
    for method, written, message in uncovered(surface.text):
        weight, kind = _strongest(message, _UNSEEN_FACTOR)
        if weight and weight > _strongest(written, 1.5 * _UNSEEN_FACTOR)[0]:
            yield weight, _finding(surface, kind, weight, message, method)


def _strongest(text: str, factor: float) -> tuple[float, str]:
    """Return the belief and kind of the sentence that reads most like an order."""
    best = (0.0, "")
    hearer = Hearer(unseen=False)
    for sentence in _sentences(text):
        hits = hearer.hits(_single_spaced(fold(sentence)))
        weight = _added(hits, factor)
        if weight > best[0]:
            best = weight, max(hits, key=lambda hit: hit.weight).kind
    return best


def _finding(surface: Surface, kind: str, weight: float, text: str, method: str) -> Finding:
    severity = "high" if weight >= HIGH else "medium" if weight >= MEDIUM else "low"
    why = ", ".join(part for part in (surface.reason, method) if part)
    location = f"{surface.place} ({why})" if why and why != surface.place else surface.place
    return Finding(kind, severity, location, surface.path, plain(text))


#: Stars of Markdown, which part a name from its colon.
_EMPHASIS = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}")


def _orders(surface: Surface, about: bool, unseen: bool) -> Iterator[tuple[str, float, str]]:
    """Yield sentence, weight and kind for every sentence that reads as an order to a model."""
    role = False
    text, code = surface.text, surface.code
    for found in _DELIMITERS.finditer(text) if _may_delimit(text) else ():
        factor = 1.0 if unseen else _shown(text, found, code) * (0.6 if about else 1.0)
        role = role or factor >= 1.0
        line = text[found.start() : found.start() + 200]
        yield line, 0.55 * factor * (1.2 if unseen else 1.0), "fake_delimiter"
    before: list[Hit] = []
    hearer = Hearer(unseen, AIMED, HEARD) if surface.aimed else Hearer(unseen)
    for sentence in _sentences(text):
        folded = _single_spaced(fold(sentence))
        if "*" in folded:
            folded = _EMPHASIS.sub("", folded)
        hits = [] if unseen and not _is_prose(folded) else hearer.hits(folded)
        if not hits:
            before = []
            continue
        factor = _mention(folded, hits, code, about, unseen)
        if not unseen and hearer.odds is not None and hearer.odds < _UNLIKELY:
            factor *= _LESS
        alone = _added(hits, factor * (_UNSEEN_FACTOR if unseen else 1.0) * (1.2 if role else 1.0))
        joined = _added(hits + before, factor) if before else 0.0
        yield sentence, max(alone, joined), max(hits, key=lambda hit: hit.weight).kind
        before = [h for h in hits if h.kind != WORDED] if factor >= 1.0 else []


_BLANKS = re.compile(r"[^\S ]\s*| \s+")


def _single_spaced(text: str) -> str:
    return _BLANKS.sub(" ", text)


def _says_nothing(surface: Surface) -> bool:
    """Tell at once that a few plain words are no order; half the texts of a page are such."""
    text = surface.text
    if surface.aimed or len(text) > _FEW or not text.isascii() or "*" in text:
        return False
    words = text.split()
    if len(words) >= LEAST_WORDS:
        return False
    unread = surface.place != "visible" and len(words) == 1
    return (
        (unread or may_hold(text.lower()) is NOTHING)
        and ("".join(words).isalnum() or not _may_delimit(text))
        and not signs_of(text)
    )


def _may_delimit(text: str) -> bool:
    return bool(_DELIMITER_SIGN.Match(text.encode("utf-8", "replace")))


def _shown(text: str, found: re.Match[str], code: bool) -> float:
    """Return what a delimiter in code or between quotation marks keeps of its weight."""
    start = text.rfind("\n", 0, found.start()) + 1
    line = text[max(start, found.start() - 300) : found.end() + 100]
    quoted = line.count("`", 0, found.start() - max(start, found.start() - 300)) % 2
    return 0.35 if code or quoted else 1.0


def _added(hits: Iterable[Hit], factor: float) -> float:
    """Return the belief that hits give together; of one kind only the best two count."""
    by_kind: dict[str, list[float]] = {}
    for hit in hits:
        by_kind.setdefault(hit.kind, []).append(min(hit.weight * factor, 0.95))
    doubt = 1.0
    for weights in by_kind.values():
        best = sorted(weights, reverse=True)
        doubt *= (1.0 - best[0]) * (1.0 - (best[1] / 2 if len(best) > 1 else 0.0))
    return 1.0 - doubt


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = found[0]
        if len(sentence) < 6:
            continue
        for start in range(0, len(sentence), _PIECE - 150):
            yield sentence[start : start + _PIECE]
            if start + _PIECE >= len(sentence):
                break


#: Log-odds of wording under which what patterns found in visible text counts less, and how much.
_UNLIKELY, _LESS = -3.0, 0.75
_SYMBOLS = re.compile(r"[{}()\[\];=<>\\|&_$+\"]")


def _is_prose(folded: str) -> bool:
    """Tell prose from program text, which stands in comments and data too."""
    return len(_SYMBOLS.findall(folded)) <= max(4, 0.05 * len(folded)) and (
        " " in folded.strip() or not folded.isascii()
    )


def _mention(sentence: str, hits: list[Hit] | None, code: bool, about: bool, unseen: bool) -> float:
    """Return how much of its weight an order keeps, where it may be shown instead of given."""
    if unseen:
        return 1.0
    factor = 0.35 if code else 1.0
    if hits is not None and _all_quoted(sentence, hits):
        factor *= 0.22
    if _ABOUT.search(_ADDRESS.sub(" ", sentence.lower())) or _TOLD.search(sentence):
        factor *= 0.55
    return factor * (0.6 if about else 1.0)


def _all_quoted(sentence: str, hits: list[Hit]) -> bool:
    """Tell whether every hit begins inside a quotation that does not span the whole sentence."""
    spans = [m.span() for m in _QUOTED.finditer(sentence)]
    inside = sum(end - start for start, end in spans)
    placed = [hit for hit in hits if hit.kind != WORDED]
    return (
        len(sentence.strip()) - inside > 8
        and (bool(placed) or 3 * inside >= len(sentence))
        and all(
            any(min(b, h.end) - max(a, h.start) >= 0.6 * (h.end - h.start) for a, b in spans)
            for h in placed
        )
    )


_MOST_MARKED = 200


def mark(text: str, *, label: str = "instruction to the reader, not content") -> str:
    """Return text with every dangerous visible sentence set between ⟦label: … ⟧.

    For text that is handed on to a model; sentences below medium weight stay as they are.
    """
    about = _is_about_attacks(text)
    spans = {
        sentence.strip()
        for part in surfaces(text)
        for sentence, weight, _ in _orders(part, about, unseen=False)
        if weight >= MEDIUM
    }
    for span in sorted(spans, key=len, reverse=True)[:_MOST_MARKED]:
        text = text.replace(span, f"⟦{label}: {span}⟧")
    return text
