"""libcurl's own hooks: sockets to private addresses, connections used again, file URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from curl_cffi import CurlOpt
from curl_cffi.requests import RequestsError

from middlewares.guard import allowed_networks
from middlewares.handlers.libcurl import GuardedSession, refusals
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from middlewares.guard import Network

LOOPBACK = allowed_networks(["127.0.0.0/8"])


def session(site: Site, allowed: tuple[Network, ...] = ()) -> GuardedSession:
    """A session whose resolver takes `rebinding.test` for the site's private address."""
    pinned = [f"rebinding.test:{site.port}:127.0.0.1"]
    return GuardedSession(allowed, curl_options={CurlOpt.RESOLVE: pinned})


async def test_a_name_that_resolves_to_a_private_address_opens_no_socket() -> None:
    async with Site({"/": Reply()}) as site, session(site) as client:
        refused = refusals()
        with pytest.raises(RequestsError):
            await client.get(site.url("/", "rebinding.test"))
        assert refused == ["127.0.0.1 is a loopback address"]
        assert site.connections == 0


async def test_an_allowed_network_is_reached() -> None:
    async with Site({"/": Reply(body=b"in")}) as site, session(site, LOOPBACK) as client:
        assert (await client.get(site.url("/", "rebinding.test"))).content == b"in"


async def test_a_connection_used_again_is_checked_again() -> None:
    async with Site({"/": Reply()}) as site, session(site, LOOPBACK) as client:
        await client.get(site.url("/", "rebinding.test"))
        client._allowed = ()
        refused = refusals()
        with pytest.raises(RequestsError):
            await client.get(site.url("/", "rebinding.test"))
        assert refused
        assert (site.connections, len(site.seen)) == (1, 1)


async def test_refusals_belong_to_their_own_task() -> None:
    mine = refusals()
    async with Site({"/": Reply()}) as site, session(site, LOOPBACK) as client:
        await client.get(site.url("/", "rebinding.test"))
    assert mine == []
