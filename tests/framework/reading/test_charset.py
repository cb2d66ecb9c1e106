"""Encodings: pages that don't say theirs, say a wrong one, or say the right one."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.reading.charset import declared, decode

TEXTS = {
    "de": (
        "Über die Größe der Häuser in Köln läßt sich lange reden, meinte der Wächter, und "
        "öffnete die Tür zum Hof."
    ),
    "es": (
        "El niño preguntó qué día vendría su compañero, y nadie respondió hasta la mañana "
        "del sábado siguiente."
    ),
    "pl": (
        "Zażółć gęślą jaźń, powiedział wędrowiec, który przyszedł późnym wieczorem do "
        "małej wioski pod górą."
    ),
    "ru": (
        "Вечером старый сторож запер ворота и пошёл домой, где его уже ждали дети, жена и "
        "горячий ужин на столе."
    ),
    "el": (
        "Το βράδυ ο παλιός φύλακας έκλεισε την πύλη και πήγε στο σπίτι του, όπου τον "
        "περίμεναν τα παιδιά του."
    ),
    "ja": (
        "夕方になると、年老いた番人は門を閉めて家に帰った。"
        "そこでは子どもたちと妻が温かい夕食を用意して待っていた。"
    ),
    "zh": (
        "傍晚时分，年老的看门人关上大门回家去了，孩子们和妻子已经准备好热腾腾的晚饭，等着他一起吃。"
    ),
    "ko": (
        "저녁이 되자 늙은 문지기는 문을 잠그고 집으로 돌아갔다. "
        "아이들과 아내가 따뜻한 저녁을 차려 놓고 기다리고 있었다."
    ),
    "th": ("ในตอนเย็นยามเฝ้าประตูชราปิดประตูแล้วเดินกลับบ้าน ซึ่งลูกๆ และภรรยารอทานอาหารเย็นร้อนๆ อยู่ด้วยกัน"),
    "ar": (
        "في المساء أغلق الحارس العجوز البوابة وعاد إلى بيته حيث كان أولاده وزوجته ينتظرونه "
        "مع عشاء ساخن على المائدة"
    ),
}
ENCODINGS = {
    "de": ("utf-8", "iso-8859-1", "windows-1252", "utf-16"),
    "es": ("utf-8", "iso-8859-1", "iso-8859-15"),
    "pl": ("utf-8", "iso-8859-2", "windows-1250"),
    "ru": ("utf-8", "windows-1251", "koi8-r", "iso-8859-5"),
    "el": ("utf-8", "windows-1253", "iso-8859-7"),
    "ja": ("utf-8", "shift_jis", "euc-jp", "iso-2022-jp", "utf-16-le"),
    "zh": ("utf-8", "gb18030", "gbk", "big5"),
    "ko": ("utf-8", "euc-kr", "cp949"),
    "th": ("utf-8", "tis-620", "cp874"),
    "ar": ("utf-8", "windows-1256", "iso-8859-6"),
}
CASES = [(language, name) for language, names in ENCODINGS.items() for name in names]


def page(language: str, label: str) -> str:
    meta = f'<meta charset="{label}">' if label else ""
    paragraphs = f'<p class="text">{TEXTS[language]}</p>' * 3
    return (
        f"<!doctype html><html><head>{meta}<script>var a = 1;</script></head>"
        f"<body>{paragraphs}</body></html>"
    )


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_a_page_without_a_charset(language: str, encoding: str) -> None:
    body = page(language, "").encode(encoding, "ignore")
    assert decode(body)[0] == body.decode(encoding).lstrip("\ufeff")


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_a_page_with_its_charset(language: str, encoding: str) -> None:
    body = page(language, encoding).encode(encoding, "ignore")
    assert decode(body)[0] == body.decode(encoding).lstrip("\ufeff")


@pytest.mark.parametrize(("language", "encoding"), CASES)
@pytest.mark.parametrize("claim", ["utf-8", "iso-8859-1"])
def test_a_page_with_another_charset(language: str, encoding: str, claim: str) -> None:
    if encoding in ("iso-8859-2", "windows-1250", "iso-8859-15") and claim == "iso-8859-1":
        pytest.skip("Latin alphabets that differ in a few letters can't be told apart for sure")
    body = page(language, claim).encode(encoding, "ignore")
    assert decode(body)[0] == body.decode(encoding).lstrip("\ufeff")


def test_the_header_is_believed_before_the_page() -> None:
    body = page("ru", "koi8-r").encode("windows-1251", "ignore")
    assert decode(body, "text/html; charset=windows-1251")[0] == body.decode("windows-1251")


def test_labels_mean_what_browsers_take_them_for() -> None:
    assert declared(b'<meta charset="gb2312">') == ("gb18030",)
    assert declared(b"<meta charset=iso-8859-1>", "text/html; charset=ISO-8859-9") == (
        "cp1254",
        "cp1252",
    )
    assert declared(b'<?xml version="1.0" encoding="shift_jis"?>') == ("cp932",)
    assert declared(b'<meta charset="no-such-thing">') == ()


def test_windows_quotes_on_a_latin1_page() -> None:
    body = "<meta charset=iso-8859-1><p>“so” – it says…</p>".encode("cp1252")
    assert decode(body) == (body.decode("cp1252"), "cp1252")


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_mark_of_order_decides(mark: bytes) -> None:
    encoding = {2: "utf-16-le", 3: "utf-8"}[len(mark)]
    encoding = "utf-16-be" if mark == codecs.BOM_UTF16_BE else encoding
    assert decode(mark + "Größe".encode(encoding), "text/html; charset=koi8-r")[0] == "Größe"


def test_a_character_cut_off_at_the_end_is_dropped() -> None:
    assert decode("Größe 中".encode()[:-1]) == ("Größe ", "utf-8")


@given(st.binary(max_size=300), st.text(max_size=40))
def test_any_bytes_have_a_text(body: bytes, header: str) -> None:
    assert isinstance(decode(body, header)[0], str)
