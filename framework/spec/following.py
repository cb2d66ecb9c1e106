"""How an answer says where the next page is: a number, a link, a form, or a token."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit

from framework.spec.address import same_site
from framework.spec.documents import absolute
from framework.spec.patterns import text_of
from framework.spec.picks import compile_picks
from framework.spec.selectors import check_css
from framework.spec.values import MAX_URL, link
from framework.types import HttpRequest, Next

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from framework.spec.documents import Document
    from framework.spec.model import FormPaging, LinkPaging, Paging, Spec, TokenPaging
    from framework.spec.picks import Languages

    #: Tells how the page with this number is asked for, None where nothing follows.
    Following = Callable[[Document, int], Next | None]

__all__ = ["compile_following"]

#: A token or a form that is larger is not one.
_MAX_TOKEN = 8_192
_MAX_INPUTS = 200
_FORM_TYPE = ("Content-Type", "application/x-www-form-urlencoded")
_UNSENT = frozenset({"image", "button", "reset", "file"})


def compile_following(spec: Spec, languages: Languages) -> Following:
    """Return what reads the next page's request from an answer.

    A link or a form that leaves the host and `fetch.same_site` is not followed. Raises
    SelectorError where a pick or the form's selector does not compile.
    """
    paging = spec.paging
    if paging is None:
        return lambda _document, _page: None
    following = _compile(paging, spec, languages)
    last = paging.max

    def find(document: Document, page: int) -> Next | None:
        return following(document, page) if last is None or page <= last else None

    return find


def _compile(paging: Paging, spec: Spec, languages: Languages) -> Following:
    hosts = frozenset(host.lower() for host in spec.fetch.same_site)
    if paging.by == "link":
        return _by_link(paging, languages, hosts)
    if paging.by == "form":
        return _by_form(paging, hosts)
    if paging.by == "token":
        return _by_token(paging, languages)
    return lambda _document, page: Next(page=page)


def _by_link(paging: LinkPaging, languages: Languages, hosts: frozenset[str]) -> Following:
    pick = compile_picks(paging.next, languages)

    def find(document: Document, page: int) -> Next | None:
        url = link(pick(document, None, {}), document.base)
        if url is None or not same_site(url, document.response.url, hosts):
            return None
        return Next(page=page, request=HttpRequest(url=url))

    return find


def _by_token(paging: TokenPaging, languages: Languages) -> Following:
    pick = compile_picks(paging.token, languages)
    name = paging.send_as

    def find(document: Document, page: int) -> Next | None:
        token = text_of(pick(document, None, {}))
        if not token or len(token) > _MAX_TOKEN or not token.isprintable():
            return None
        return Next(page=page, session={name: token})

    return find


def _by_form(paging: FormPaging, hosts: frozenset[str]) -> Following:
    selector = paging.form
    check_css(selector)

    def find(document: Document, page: int) -> Next | None:
        form = document.root.css_first(selector) if document.root is not None else None
        request = _submission(form, document) if form is not None else None
        if request is None or not same_site(request.url, document.response.url, hosts):
            return None
        return Next(page=page, request=request)

    return find


def _submission(form: LexborNode, document: Document) -> HttpRequest | None:
    """The request that submitting a form sends."""
    attributes = form.attributes
    action = (attributes.get("action") or "").strip() or document.response.url
    url = absolute(document.base, action)
    if url is None or len(url) > MAX_URL:
        return None
    data = urlencode(_inputs(form), errors="replace")
    if (attributes.get("method") or "get").strip().lower() == "post":
        return HttpRequest(url=url, method="POST", headers=(_FORM_TYPE,), body=data.encode())
    try:
        return HttpRequest(url=urlunsplit((*urlsplit(url)[:3], data, "")))
    except ValueError:
        return None


def _inputs(form: LexborNode) -> list[tuple[str, str]]:
    """Names and values of what a browser would send; of several submit buttons the first."""
    pairs: list[tuple[str, str]] = []
    pressed = False
    for control in form.css("input, select, textarea, button")[:_MAX_INPUTS]:
        attributes = control.attributes
        kind = (attributes.get("type") or "").lower()
        submits = kind == "submit" or (control.tag == "button" and kind == "")
        if not _sent(attributes, kind) or (submits and pressed):
            continue
        pressed = pressed or submits
        pairs.append((attributes["name"] or "", _control_value(control, attributes)))
    return pairs


def _sent(attributes: dict[str, str | None], kind: str) -> bool:
    if not attributes.get("name") or "disabled" in attributes or kind in _UNSENT:
        return False
    return kind not in ("checkbox", "radio") or "checked" in attributes


def _control_value(control: LexborNode, attributes: dict[str, str | None]) -> str:
    if control.tag == "textarea":
        return control.text()
    if control.tag == "select":
        chosen = control.css_first("option[selected]") or control.css_first("option")
        return "" if chosen is None else chosen.attributes.get("value") or chosen.text().strip()
    value = attributes.get("value")
    is_box = attributes.get("type") in ("checkbox", "radio")
    return value if value is not None else ("on" if is_box else "")
