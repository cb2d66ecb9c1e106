"""Parameters that say where a visitor came from, or who they are, but not which page they want.

The names are facts about the tools that append them, and are grouped by tool. A name is listed
only where no site is known to choose content with it; names that are content somewhere (`ref`,
`source`, `share`, `sid`, `print`) are judged by their value, and names that are tracking on one
site alone stand in that site's row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.merge.hosts import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.merge.hosts import Host

__all__ = ["Pair", "is_tracking"]

Pair = tuple[str, str]

#: Names that start so belong to one campaign tool each.
_PREFIXES = (
    *("utm_", "utm.", "itm_", "otm_", "stm_", "mtm_", "pk_", "piwik_", "matomo_"),  # campaign tags
    *("fb_action_", "fb_source", "fb_ref", "action_object_map", "action_type_map"),  # Facebook
    *("action_ref_map", "hmb_", "ga_source", "ga_medium", "ga_term", "ga_content"),
    *("ga_campaign", "ga_place", "gad_", "gs_lcrp", "guce_", "guccounter"),  # Google, Yahoo
    *("_hs", "__hs", "hsa_", "hsctatracking"),  # HubSpot
    *("mc_cid", "mc_eid", "mc_tc", "ml_subscriber", "vero_", "oly_", "elq", "bsft_", "inf_c"),
    *("at_campaign", "at_medium", "at_custom", "at_link", "at_recipient", "at_bbc"),  # AT Internet
    *("ns_source", "ns_mchannel", "ns_campaign", "ns_linkname", "ns_fee", "sc_channel"),  # comScore
    *("sc_campaign", "sc_content", "sc_medium", "sc_outcome", "sc_geo", "sc_country", "sc_cid"),
    *("cm_mmc", "wt.", "wt_mc", "wt_zmc", "vn_", "oft_", "trk_", "mkt_tok", "_branch_", "_bta_"),
    *("tracking_source", "redirect_log_mongo", "redirect_mongo", "rb_click", "gdfm", "gdft"),
    *("aspsessionid", "share_source", "share_medium", "share_plat", "amp_js", "amp_gsa"),
    *("__cft__", "__xts__", "__tn__"),
    *("amp_latest", "amp_analytics", "amp_consent"),
)

_NAMES = words(
    # click identifiers
    "gclid gclsrc dclid gbraid wbraid srsltid fbclid msclkid twclid ttclid yclid ysclid igshid igsh"
    " epik li_fat_id irclickid irgwc clickid cjevent awc sscid sccid scid rdt_cid tblci dicbo"
    " obclid unicorn_click_id zanpid admitad_uid ranmid raneaid ransiteid wickedid wickedsource"
    " s_kwcid ef_id mkwid pcrid spm algo_expid vd_source spm_id_from"
    # analytics and mail
    " utm _ga _gl _ke _kx __s _openstat gs_l ncid icid cmpid s_cid dgcid xtor xnpe_tifc"
    " echobox emc wtrid wtmc wtzmc os_ehash ceneo_spo dm_i nr_email_referer ck_subscriber_id bbeml"
    " mindbox-click-id vgo_ee sb_referer_host usqp __twitter_impression sr_share"
    # referrers and share buttons
    " ref_src ref_url referrer referer soc_src soc_trk tse_id mpshare isappinstalled wxshare_count"
    " replytocom"
    # sessions, whatever their value
    " jsessionid phpsessid oscsid zenid cfid cftoken"
)

_SITES: dict[str, frozenset[str]] = {
    "youtube.com": words(
        "feature si pp ab_channel t start time_continue kw app persist_app noapp cbrd bpctr"
        " attr_tag has_verified embeds_referring_euri embeds_referring_origin"
    ),
    "x.com": words("s t src cn cxt twgr lang refsrc"),
    "reddit.com": words(
        "share_id correlation_id ref_campaign ref_source rdt context post_fullname $deep_link"
    ),
    "medium.com": words("source sk gi"),
    "spotify.com": words("si context nd dl_branch sp_cid"),
    "tiktok.com": words(
        "is_copy_url is_from_webapp sender_device sender_web_id _r _t _d u_code preview_pb tt_from"
        " share_app_id share_item_id share_link_id share_app_name user_id sec_user_id"
    ),
    "instagram.com": words("ig_rid hl taken-by"),
    "facebook.com": words(
        "hc_ref hc_location fref refid ref eid mibextid rdid share_url paipv acontext notif_id"
        " notif_t comment_tracking __tn__ __xts__ __cft__ _rdr _rdc pnref dti"
    ),
    "linkedin.com": words(
        "trk trackingid refid lipi midtoken midsig trkemail eid originalsubdomain li"
        " originaltrackingid origin"
    ),
    "imdb.com": frozenset({"ref_", "ref"}),
    "theguardian.com": words("cmp int_cmp"),
    "nytimes.com": words("smid smtyp nl te partner rref rref_ ref_page ref module pgtype"),
    "bloomberg.com": words("sref srnd embedded-checkout leadsource"),
    "bbc.com": frozenset({"intlink_from_url", "intlink_ts", "link_location"}),
    "bbc.co.uk": frozenset({"intlink_from_url", "intlink_ts", "link_location"}),
    "msn.com": words("cvid ei pc bundles ocid"),
    "wikipedia.org": words("wprov mobileaction useskin searchtoken"),
    "netflix.com": words("trackid tctx jbp jbr jbv"),
    "apple.com": words("itsct itscg uo at ct"),
    "quora.com": words("share ch srid oid no_redirect"),
    "substack.com": words("r publication_id post_id isfreemail triedredirect"),
    "stackoverflow.com": words("rq newreg lq s ssrc"),
    "stackexchange.com": words("rq newreg lq s ssrc"),
    "etsy.com": words(
        "click_key click_sum ref frs sts organic_search_click plkey pro bes ls ga_order"
    ),
    "aliexpress.com": words(
        "scm algo_pvid aff_platform aff_trace_key sk btsid ws_ab_test gps-id pdp_npi pvid"
    ),
    "walmart.com": words("athcpid athpgid athznid athieid athbdg athancid wl13"),
    "booking.com": words("aid label sid srpvid ucfs hpos hapos sr_order srepoch"),
    "steampowered.com": frozenset({"snr"}),
    "twitch.tv": words("tt_medium tt_content"),
    "mozilla.org": words("src platform"),
    "meetup.com": words("rv _xtd _af _af_cid"),
    "github.com": words("email_token email_source notification_referrer_id"),
    "bilibili.com": words("from_source seid bbid ts timestamp share_session_id buvid"),
    "sciencedirect.com": frozenset({"via", "rr", "_docanchor"}),
    "springer.com": frozenset({"sap-outbound-id", "error", "code"}),
    "dailymail.co.uk": frozenset({"ito"}),
    "arxiv.org": frozenset({"context"}),
    "openreview.net": frozenset({"noteid", "referrer"}),
}

#: Services under many country suffixes, by the first label of their host.
_BRANDS: dict[str, frozenset[str]] = {
    "amazon": words(
        "ref ref_ qid sr sprefix crid dib dib_tag _encoding tag linkcode linkid ascsubtag camp"
        " creative creativeasin psc th keywords smid spla aaxitk hvadid hvdev content-id"
        " dchild"
    ),
    "ebay": words(
        "_trkparms _trksid hash mkcid mkrid campid toolid mkevt customid amdata ssspo"
        " sssrc widget_ver"
    ),
    "google": words(
        "ved ei sei sa usg sca_esv sxsrf sclient aqs gs_lp gs_ssp uact biw bih dpr oq client"
        " sourceid rlz iflsig fbs cshid ictx"
    ),
    "bing": words("cvid form sk sp sc qs qp pq refig ghc lq pc ocid"),
}

_BRAND_PREFIXES: dict[str, tuple[str, ...]] = {"amazon": ("pd_rd_", "pf_rd_", "hv")}

#: Who sends visitors: values of `ref` and its like that can't be a branch, a version or a filter.
_REFERRERS = words(
    "twitter facebook linkedin reddit hackernews hn producthunt newsletter email rss instagram"
    " pinterest whatsapp telegram mastodon bluesky threads homepage home search google bing"
    " duckduckgo share sharing social footer header navbar sidebar"
)
_SHARED_TO = words(
    "twitter facebook linkedin reddit pinterest tumblr telegram whatsapp email jetpack-whatsapp"
    " pocket skype x mastodon bluesky threads print nextdoor custom link copy"
)
_DOMAIN = re.compile(r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|co|news|dev|app|blog)", re.IGNORECASE)
_HEX_SESSION = re.compile(r"[0-9a-f]{16,}", re.IGNORECASE)
_TOKEN_SESSION = re.compile(r"(?=.*[0-9])(?=.*[a-z])[a-z0-9]{24,}", re.IGNORECASE)
_HEX_32 = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
_YES = frozenset({"", "1", "true", "yes", "on", "y"})


def _is_referrer(value: str) -> bool:
    return value.lower() in _REFERRERS or _DOMAIN.fullmatch(value) is not None


def _is_share(value: str) -> bool:
    return value.lower() in _SHARED_TO


def _is_session(value: str) -> bool:
    return bool(_HEX_SESSION.fullmatch(value) or _TOKEN_SESSION.fullmatch(value))


def _is_hex_32(value: str) -> bool:
    return _HEX_32.fullmatch(value) is not None


def _is_campaign(value: str) -> bool:
    return value.lower().startswith(("social", "nl", "synd", "mail", "email", "news"))


def _is_yes(value: str) -> bool:
    return value.lower() in _YES


def _is_amp(value: str) -> bool:
    return value.lower() in {"amp", "amphtml"}


def _is_view(value: str) -> bool:
    return value.lower() in {"amp", "amphtml", "print", "mobile"}


#: Names that are tracking, a session or a view only with certain values.
_BY_VALUE: dict[str, Callable[[str], bool]] = {
    "ref": _is_referrer,
    "referral": _is_referrer,
    "share": _is_share,
    "shared": _is_share,
    "sid": _is_session,
    "session": _is_session,
    "sessionid": _is_session,
    "session_id": _is_session,
    "sess": _is_session,
    "sessid": _is_session,
    "s": _is_hex_32,
    "mbid": _is_campaign,
    "ocid": _is_campaign,
    "amp": _is_yes,
    "_amp": _is_yes,
    "isamp": _is_yes,
    "print": _is_yes,
    "printable": _is_yes,
    "printerfriendly": _is_yes,
    "outputtype": _is_amp,
    "output": _is_view,
    "view": _is_view,
}


def is_tracking(name: str, value: str, host: Host) -> bool:
    """Say whether a parameter can be dropped without changing which page is meant."""
    lower = name.lower().lstrip("?")
    if lower in _NAMES or lower.startswith(_PREFIXES):
        return True
    judge = _BY_VALUE.get(lower)
    if judge is not None and judge(value):
        return True
    return _is_site_tracking(lower, value, host)


def _is_site_tracking(name: str, value: str, host: Host) -> bool:
    if name in _SITES.get(host.site, ()) or name in _SITES.get(host.name, ()):
        return True
    if host.brand in _BRANDS:
        prefixes = _BRAND_PREFIXES.get(host.brand, ())
        return name in _BRANDS[host.brand] or bool(prefixes and name.startswith(prefixes))
    return name == "m" and ".blogspot." in f".{host.name}" and value in {"0", "1"}
