"""Scrapy's settings, for `scrapy crawl` in a checkout and for the long-lived crawler alike.

Each line is here because Scrapy's default leaks, opens a port, links callers or costs time.
"""

from __future__ import annotations

import os


def _listed(name: str) -> list[str]:
    return [text.strip() for text in os.environ.get(name, "").split(",") if text.strip()]


BOT_NAME = "consilience"
SPIDER_LOADER_CLASS = "spiders.loader.EngineLoader"
ADDONS = {"spiders.recordings.ReplayAddon": 100}

# The reactor runs on the caller's asyncio loop; nothing here uses Twisted's own networking.
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
DOWNLOAD_HANDLERS = {
    "http": "middlewares.handlers.dispatch.DispatchHandler",
    "https": "middlewares.handlers.dispatch.DispatchHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
DOWNLOADER_MIDDLEWARES = {
    # Answers requests that ask an engine; what it sends goes through all the others.
    "middlewares.crawl.PolicyMiddleware": 10,
    "middlewares.guard.GuardMiddleware": 50,
    "middlewares.robots.RobotsMiddleware": 100,
    "middlewares.retry.RetryMiddleware": 550,
    "middlewares.redirects.RedirectMiddleware": 600,
    # A cookie jar belongs to one proxy, so the proxy is chosen first.
    "middlewares.proxy.ProxyMiddleware": 650,
    "middlewares.cookies.CookiesMiddleware": 700,
}
#: Scrapy's own chain is left out: each link leaks, is replaced above, or is not needed.
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}

COMMANDS_MODULE = "spiders.commands"
SPIDER_CONTRACTS = {"spiders.contracts.EngineContract": 10}

# Ports that run code, and console output.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
STATS_DUMP = False
LOG_LEVEL = "INFO"
LOG_FORMATTER = "spiders.logs.DiscreetFormatter"
LOG_VERSIONS: list[str] = []
LOGSTATS_INTERVAL = 0.0
MEMUSAGE_ENABLED = False

# A browser profile's own headers must not be overwritten.
USER_AGENT = None
DEFAULT_REQUEST_HEADERS: dict[str, str] = {}

DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_TIMEOUT = 15
DOWNLOAD_MAXSIZE = 5 * 1024 * 1024
REDIRECT_MAX_TIMES = 10
ROBOTSTXT_OBEY = False

CONCURRENT_REQUESTS = 64
CONCURRENT_REQUESTS_PER_DOMAIN = 64
CONCURRENT_ITEMS = 4
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"
# Verdicts judge every status; a referrer would carry the query on.
HTTPERROR_ALLOW_ALL = True
REFERER_ENABLED = False
URLLENGTH_LIMIT = 0

DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"
FEED_EXPORT_ENCODING = "utf-8"

# What a rendered page may cost: seconds, requests, bytes; and how many are rendered at once.
RENDER_TIMEOUT = 30.0
RENDER_MAX_REQUESTS = 100
RENDER_MAX_NETWORK_BYTES = 33_554_432
RENDER_MAX_HTML_BYTES = 8_388_608
RENDER_CONCURRENCY = 2
#: The browser of mode `impersonate`: chrome, firefox, safari or edge.
IMPERSONATE = "chrome"
#: Where Chromium is; empty means the first one found.
CONSILIENCE_CHROME_PATH = os.environ.get("CONSILIENCE_CHROME_PATH") or None

#: Folders of engine files, later ones winning by id; empty means `./engines.d`, then the packaged.
CONSILIENCE_ENGINES_DIR: list[str] = []
#: Folder of the state database: rests, keys, pace; empty means the user's own.
CONSILIENCE_STATE_DIR = os.environ.get("CONSILIENCE_STATE_DIR") or None
#: Least seconds between two searches, and between two further pages, of one engine.
CONSILIENCE_SEARCH_GAP = os.environ.get("CONSILIENCE_SEARCH_GAP") or 0
CONSILIENCE_PAGE_GAP = os.environ.get("CONSILIENCE_PAGE_GAP") or 0
#: Seconds that one question may take at most; None leaves it to each engine's file.
CONSILIENCE_TIMEOUT = None
#: Networks in CIDR form that the guard lets through although they are not public.
CONSILIENCE_ALLOW_NETWORKS = _listed("CONSILIENCE_ALLOW_NETWORKS")
#: A file of further certificate authorities to trust.
CONSILIENCE_CA_FILE = os.environ.get("CONSILIENCE_CA_FILE") or None
#: What robots.txt means for pages: obey, warn or off; None leaves it to each request.
CONSILIENCE_ROBOTS = os.environ.get("CONSILIENCE_ROBOTS") or None
#: A folder of recordings to answer from, instead of the network.
REPLAY = None
