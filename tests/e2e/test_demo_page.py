"""The demo page, in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from local.prepare import browser as installed_browser
from tests.doubles.stack import Stack

_QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
_QUIETER = ["--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = installed_browser()
    assert path, "the demo page's test needs a browser: install chromium"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=[*_QUIET, *_QUIETER])
        yield opened
        opened.close()


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, stack: Stack, complaints: list[str]) -> Iterator[Page]:
    opened = browser.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.goto(stack.url)
    yield opened
    opened.close()
    stack.provider.reset()


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_question_gets_an_answer_and_a_source_to_follow(page: Page, stack: Stack, complaints: list[str]) -> None:
    ask(page, "May I use rechargeable batteries?")
    answer = page.locator(".answer")
    expect(answer).to_contain_text("Their voltage is too low", timeout=30_000)
    source = answer.get_by_role("link", name="Batteries", exact=True)
    expect(source).to_have_attribute("href", f"{stack.url}/_local/site/batteries")
    with page.expect_popup() as followed:
        source.click()
    expect(followed.value.get_by_role("heading", name="Batteries")).to_be_visible()
    assert complaints == []


def test_the_history_goes_along_with_its_signatures(page: Page, stack: Stack) -> None:
    for number, question in enumerate(["What is in the box?", "And what does it cost?"], start=1):
        ask(page, question)
        expect(page.locator(".answer")).to_have_count(number, timeout=30_000)
    roles = [message["role"] for message in stack.provider.body()["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_nothing_in_an_answer_becomes_markup_or_a_script(page: Page, stack: Stack) -> None:
    hostile = (
        '<img src="x" onerror="document.title=\'owned\'"> <script>document.title="owned"</script>\n\n'
        "[press me](javascript:document.title='owned') and [there](https://example.com/)\n\n"
        "| <b>a</b> | b |\n|---|---|\n| `<i>` | **bold** |"
    )
    stack.provider.order({"text": hostile})
    ask(page, "What is in the box?")
    answer = page.locator(".answer")
    expect(answer.locator("strong")).to_have_text("bold", timeout=30_000)
    assert answer.locator("img, script, i, b").count() == 0
    assert answer.get_by_role("link", name="press me").count() == 0
    expect(answer.get_by_role("link", name="there")).to_have_attribute("href", "https://example.com/")
    assert page.title() == "Fencepost demo"


HOSTILE = {
    "links that never end": "[a" * 50_000,
    "addresses that never end": "[a](b" * 20_000,
    "strong that never ends": "**a" * 50_000,
    "emphasis that never ends": "*a " * 50_000,
    "code that never ends": "`a ``b" * 20_000,
    "a heading's marks": "# " + "#" * 50_000 + "x",
    "a heading's spaces": "# " + " " * 50_000 + "\u2028x",
    "a heading's marks and spaces": "# " + "# " * 50_000 + "x",
    "quotes in quotes": ">" * 50_000,
    "quotes in quotes with spaces": "> " * 50_000 + "x",
    "a row of cells": "|a" * 50_000 + "|",
    "empty lines": "\n" * 100_000,
    "short paragraphs": "a\n\n" * 20_000,
    "items": "- a\n" * 20_000,
    "lines of one item": "- a\n" + "  b\n" * 50_000,
}
RENDERED = """async (text) => {
  const { element, markdown } = await import("/_local/demo/markdown.js");
  return element("div", markdown(text)).innerHTML;
}"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_time_for_a_hostile_answer_does_not_grow_with_its_square(page: Page, text: str) -> None:
    # Several times what an answer could be: if it did, the test would outlast its timeout.
    assert page.evaluate(RENDERED, text * 5) is not None


def test_every_kind_of_block_is_shown(page: Page) -> None:
    text = "## Two ##\n\nsome\n*text*\n> quoted\n> > deeper\n\n- one\n  more\n- two\n\n"
    shown = page.evaluate(RENDERED, text + "1. `x`\n\n|a|\n|-|\n|b|\n```\n# no\n```")
    assert shown == (
        "<h3>Two</h3><p>some\n<em>text</em></p><blockquote><p>quoted\ndeeper</p></blockquote>"
        "<ul><li>one more</li><li>two</li></ul><ol><li><code>x</code></li></ol>"
        "<table><tr><th>a</th></tr><tr><td>b</td></tr></table><pre><code># no</code></pre>"
    )


def test_a_refused_history_is_dropped_and_the_next_question_is_answered(page: Page, stack: Stack) -> None:
    ask(page, "What is in the box?")
    expect(page.locator(".answer")).to_have_count(1, timeout=30_000)
    refusal = {"error": "The history is not signed.", "code": "history_unsigned", "requestId": "1"}
    page.route("**/api/ai-chat", lambda route: route.fulfill(status=400, json=refusal), times=1)
    ask(page, "And what does it cost?")
    expect(page.get_by_role("alert")).to_contain_text("The conversation so far is dropped: please ask again.")
    ask(page, "And what does it cost?")
    expect(page.locator(".answer")).to_have_count(2, timeout=30_000)
    assert [message["role"] for message in stack.provider.body()["messages"]] == ["user"]


def test_an_overloaded_provider_is_explained_with_a_time_to_wait(page: Page, stack: Stack) -> None:
    stack.provider.order({"status": 529, "headers": {"retry-after": "90"}})
    ask(page, "What is in the box?")
    expect(page.get_by_role("alert")).to_contain_text("You can try again in", timeout=30_000)


def test_enter_sends_and_a_suggestion_is_a_question(page: Page) -> None:
    page.get_by_role("button", name="How do I get started?").click()
    expect(page.locator(".answer")).to_contain_text("Plug in the hub", timeout=30_000)
    page.get_by_label("Your question").fill("Which modes are there?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_have_count(2, timeout=30_000)
