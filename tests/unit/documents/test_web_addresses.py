"""Where a fetch may go: resolved addresses, redirects and pinned connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.documents.fetching.pinned_http import Network, parse_target, redirected, system_dial
from fencepost.documents.fetching.web import WebDocumentFetcher
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import Validators
from tests.unit.documents.loopback_server import LoopbackServer, Reply, reply, running

GUIDE = "# Guide\n"
PUBLIC = "93.184.215.14"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with running() as started:
        yield started


@dataclass
class World:
    """A DNS of our own, and an internet in which every address leads to one local server.

    Each look-up of a name takes the next of its answers; the last stays. Names without an answer do not exist.
    """

    server: LoopbackServer
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        self.dialled.append(address)
        return system_dial("127.0.0.1", self.server.port, seconds)

    def fetch(self, url: str, *, allow_loopback: bool = False) -> str:
        network = Network(resolver=self.resolve, dial=self.dial)
        document = WebDocumentFetcher(allow_loopback=allow_loopback, network=network).fetch(url, Validators())
        assert document is not None
        return document.text

    def refusal(self, url: str, *, allow_loopback: bool = False) -> str:
        with pytest.raises(DocumentsUnreachable) as caught:
            self.fetch(url, allow_loopback=allow_loopback)
        return caught.value.reason


@pytest.fixture
def world(server: LoopbackServer) -> World:
    server.serve(reply(GUIDE))
    return World(server, {"docs.example": [[PUBLIC]]})


def moved(location: str, status: str = "302 Found") -> Reply:
    return reply(status=status, Location=location)


# Resolved addresses


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["127.0.0.1"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["0.0.0.0"],
        ["::1"],
        ["fd00:ec2::254"],
        ["fe80::1%eth0"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::169.254.169.254"],
        [PUBLIC, "10.0.0.1"],
        ["10.0.0.1", PUBLIC],
        [PUBLIC, "2606:4700::1111", "::1"],
        ["not an address"],
    ],
    ids=str,
)
def test_a_name_with_any_inner_address_is_refused_before_connecting(world: World, addresses: list[str]) -> None:
    world.names["docs.example"] = [addresses]
    assert world.refusal("http://docs.example/llms-full.txt") == "address_refused"
    assert world.dialled == []


@pytest.mark.parametrize("host", ["169.254.169.254", "[::ffff:7f00:1]", "2130706433", "0x7f.1", "0"])
@pytest.mark.parametrize("allow_loopback", [False, True])
def test_literals_and_their_odd_spellings_are_checked_too(host: str, allow_loopback: bool) -> None:
    fetcher = WebDocumentFetcher(allow_loopback=allow_loopback)
    with pytest.raises(DocumentsUnreachable, match="address_refused"):
        fetcher.fetch(f"http://{host}:9/llms-full.txt", Validators())


def test_an_unknown_name_is_a_failure(world: World) -> None:
    assert world.refusal("http://nowhere.example/") == "dns"


def test_a_name_without_addresses_is_a_failure(world: World) -> None:
    world.names["docs.example"] = [[]]
    assert world.refusal("http://docs.example/") == "dns"


def test_the_connection_goes_to_the_checked_address_and_the_name_is_not_looked_up_again(world: World) -> None:
    world.names["docs.example"] = [[PUBLIC], ["169.254.169.254"]]
    assert world.fetch("http://docs.example/llms-full.txt") == GUIDE
    assert world.dialled == [PUBLIC]
    assert world.looked_up == ["docs.example"]
    assert world.server.requests[0].header("Host") == "docs.example"


def test_a_rebound_name_is_caught_at_the_next_hop(world: World) -> None:
    world.names["docs.example"] = [[PUBLIC], ["169.254.169.254"]]
    world.server.serve(moved("/llms-full.txt"), "/old")
    assert world.refusal("http://docs.example/old") == "address_refused"
    assert world.dialled == [PUBLIC]


def test_a_second_address_serves_when_the_first_does_not_answer(server: LoopbackServer) -> None:
    network = Network(resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    fetcher = WebDocumentFetcher(allow_loopback=True, network=network)
    document = fetcher.fetch(server.serve(reply(GUIDE)).replace("127.0.0.1", "localhost"), Validators())
    assert document is not None


def test_no_more_than_three_addresses_are_tried(world: World) -> None:
    def unreachable(address: str, port: int, seconds: float) -> socket.socket:
        world.dialled.append(address)
        raise ConnectionRefusedError

    network = Network(resolver=lambda host, port: [f"8.8.8.{last}" for last in range(200)], dial=unreachable)
    with pytest.raises(DocumentsUnreachable, match="connection"):
        WebDocumentFetcher(network=network).fetch("http://docs.example/", Validators())
    assert len(world.dialled) == 3


# The allowance for a laptop


def test_a_loopback_site_is_refused_in_the_cloud(server: LoopbackServer) -> None:
    with pytest.raises(DocumentsUnreachable, match="address_refused"):
        WebDocumentFetcher().fetch(server.serve(reply(GUIDE)), Validators())
    assert server.requests == []


@pytest.mark.parametrize("host", ["localhost", "docs.localhost", "LOCALHOST", "localhost."])
def test_a_loopback_site_is_read_where_it_is_allowed(world: World, host: str) -> None:
    world.names[host.lower().rstrip(".")] = [["127.0.0.1", "::1"]]
    assert world.fetch(f"http://{host}/llms-full.txt", allow_loopback=True) == GUIDE


def test_the_allowance_is_not_for_a_foreign_name_that_resolves_to_loopback(world: World) -> None:
    world.names["docs.example"] = [["127.0.0.1"]]
    assert world.refusal("http://docs.example/llms-full.txt", allow_loopback=True) == "address_refused"


@pytest.mark.parametrize("location", ["http://localhost/llms-full.txt", "http://127.0.0.1:9/", "http://[::1]/"])
def test_the_allowance_is_not_for_a_foreign_site_that_redirects_to_loopback(world: World, location: str) -> None:
    world.names |= {"localhost": [["127.0.0.1"]], "127.0.0.1": [["127.0.0.1"]], "::1": [["::1"]]}
    world.server.serve(moved(location), "/old")
    assert world.refusal("http://docs.example/old", allow_loopback=True) == "address_refused"
    assert world.dialled == [PUBLIC]


def test_the_allowance_opens_no_other_private_network(world: World) -> None:
    world.names["localhost"] = [["192.168.0.1"]]
    assert world.refusal("http://localhost/llms-full.txt", allow_loopback=True) == "address_refused"


def test_ipv6_literals_work() -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with running("::1") as server:
        fetcher = WebDocumentFetcher(allow_loopback=True)
        assert fetcher.fetch(server.serve(reply(GUIDE)), Validators()) is not None
        assert server.requests[0].header("Host") == f"[::1]:{server.port}"


# Redirects


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"])
def test_redirects_are_followed(world: World, status: str) -> None:
    world.server.serve(moved("http://docs.example/llms-full.txt", status), "/old")
    assert world.fetch("http://docs.example/old") == GUIDE


@pytest.mark.parametrize("location", ["/llms-full.txt", "../llms-full.txt", "//docs.example/llms-full.txt"])
def test_relative_redirects_are_resolved(world: World, location: str) -> None:
    world.server.serve(moved(location), "/en/old")
    assert world.fetch("http://docs.example/en/old") == GUIDE


def test_five_redirects_are_followed_and_a_sixth_is_not(world: World) -> None:
    for number in range(1, 7):
        world.server.serve(moved(f"/{number - 1}" if number > 1 else "/llms-full.txt"), f"/{number}")
    assert world.fetch("http://docs.example/5") == GUIDE
    assert world.refusal("http://docs.example/6") == "too_many_redirects"


def test_a_circle_of_redirects_ends(world: World) -> None:
    world.server.serve(moved("/round"), "/round")
    assert world.refusal("http://docs.example/round") == "too_many_redirects"
    assert len(world.server.requests) == 6


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "address_refused"),
        ("http://inner.example/", "address_refused"),
        ("http://[::ffff:169.254.169.254]/", "address_refused"),
        ("file:///etc/passwd", "bad_url"),
        ("ftp://docs.example/llms-full.txt", "bad_url"),
        ("gopher://docs.example:11211/_stats", "bad_url"),
        ("javascript:alert(1)", "bad_url"),
        ("http://user:secret@docs.example/llms-full.txt", "bad_url"),
        ("http://@docs.example/llms-full.txt", "bad_url"),
        ("http://docs.example:99999/", "bad_url"),
        ("http://docs.example:x/", "bad_url"),
        ("http://[::1/", "bad_redirect"),
        (f"http://{'a' * 64}.example/", "bad_url"),
        ("", "bad_redirect"),
    ],
)
def test_a_redirect_to_a_bad_place_is_refused(world: World, location: str, reason: str) -> None:
    world.names |= {
        "169.254.169.254": [["169.254.169.254"]],
        "::ffff:169.254.169.254": [["::ffff:169.254.169.254"]],
        "inner.example": [["10.1.2.3"]],
    }
    world.server.serve(moved(location), "/old")
    assert world.refusal("http://docs.example/old") == reason
    assert world.dialled == [PUBLIC]


def test_a_redirect_may_carry_other_scripts(world: World) -> None:
    world.server.serve(reply(GUIDE), "/%E6%96%87%E6%9B%B8/a%20b?q=%E6%9F%B5")
    location = "/文書/a b?q=柵".encode().decode("latin-1")
    world.server.serve(lambda connection: connection.sendall(moved_bytes(location)), "/old")
    assert world.fetch("http://docs.example/old") == GUIDE


def moved_bytes(location: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")


@given(
    st.text(max_size=60), st.sampled_from(["", "http://", "https://", "//", "http://docs.example/", "http://[", "?"])
)
def test_no_location_escapes_the_grammar(rest: str, prefix: str) -> None:
    try:
        target = parse_target(redirected("http://docs.example/", prefix + rest))
    except DocumentsUnreachable:
        return
    assert target.scheme in ("http", "https")
    assert target.path.startswith("/")
    assert target.path.isascii()
    assert not set(target.path) & set("\r\n\0 \t#")


def test_leaving_tls_is_refused() -> None:
    with pytest.raises(DocumentsUnreachable, match="insecure_redirect"):
        redirected("https://docs.example/old", "http://docs.example/llms-full.txt")
