"""Whether a page fetched without a browser shows its content, or only the shell of a program."""

from __future__ import annotations

import re

__all__ = ["needs_render"]

_ROOT = re.compile(
    r"<(?:div|main|section)\b[^>]{0,300}?\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|"
    r"___gatsby|svelte|app-root|react-root|main-app|mount|q-app|ember-app|"
    r"angular-app)[\"'\s>][^>]{0,300}>?\s*(?:<[^>]{0,300}>\s*){0,4}(?:</|$)|"
    r"<app-root[^>]*>\s*</app-root>",
    re.I,
)
_PLEA = re.compile(
    r"enable javascript|javascript (?:is )?(?:required|disabled|must be|needs to be|to run "
    r"this app)|requires javascript|need to enable javascript|turn on javascript|"
    r"activate javascript|without javascript|javascript aktivieren|aktivieren sie javascript|"
    r"activer javascript|activez javascript|habilit[ae] javascript|ativ[ae] o javascript|"
    r"включите javascript|启用 ?javascript|javascript ?を有効",
    re.I,
)
_SPINNER = re.compile(
    r"^\W*(?:loading|please wait|just a moment|one moment|laden|wird geladen|chargement|"
    r"cargando|caricamento|загрузка|読み込み中|加载中)\W*$",
    re.I,
)
_SCRIPT = re.compile(r"<script\b", re.I)
_BUNDLE = re.compile(
    r"<script\b[^>]{0,200}?\bsrc\s*=\s*[\"']?[^\"'>]{0,200}?(?:main|app|bundle|chunk|runtime|"
    r"vendor|index|polyfills|webpack|_next|_nuxt|static/js|assets/)[^\"'>]{0,200}?\.m?js|"
    r"type=[\"']?module",
    re.I,
)
_JAVASCRIPT = re.compile("javascript", re.I)
_AROUND = 60
_MENTIONS_MOST = 400
_LITTLE = 200
_SOME = 600


def needs_render(raw: str, content_length: int, page_length: int) -> str | None:
    """Return why a page should be rendered, or None.

    `content_length` is the length of the content that was read, `page_length` that of all visible
    text. Server-rendered pages with enough text are never named, whatever framework made them.
    """
    if content_length >= _SOME:
        return None
    scripts = len(_SCRIPT.findall(raw))
    if not scripts:
        return None
    if page_length < _SOME and _pleads(raw):
        return "the page asks for JavaScript"
    if _ROOT.search(raw) and page_length < _SOME:
        return "the page's root element is empty"
    visible = content_length or page_length
    if visible < _LITTLE and _BUNDLE.search(raw) and len(raw) < 400_000:
        return "the page is the shell of a JavaScript application"
    if visible < _LITTLE and len(raw) > 20_000 and scripts > 3:
        return "the page holds scripts but hardly any text"
    return None


def _pleads(raw: str) -> bool:
    """Whether a text near the word JavaScript asks to turn it on."""
    for count, match in enumerate(_JAVASCRIPT.finditer(raw)):
        if count > _MENTIONS_MOST:
            break
        if _PLEA.search(raw, max(0, match.start() - _AROUND), match.end() + _AROUND):
            return True
    return False


def is_spinner(text: str) -> bool:
    """Whether all that a page shows is that it is loading."""
    return len(text) < 80 and bool(_SPINNER.match(text))
