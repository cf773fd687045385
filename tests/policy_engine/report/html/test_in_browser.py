"""The page in Chromium: on a phone, a tablet and a desk, in light and dark, with names that try to be more."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.policy_engine.report.html.stories import NASTY, PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.unwatched]
WIDTHS = (360, 768, 1280)


@pytest.fixture(scope="module")
def tabs(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> "Tabs":
    return Tabs(browser, tmp_path_factory.mktemp("pages"))


class Tabs:
    """Opens pages from files, as somebody who was sent one does, and notes what they ask for and complain about."""

    def __init__(self, browser: "Browser", folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.opened: dict[str, Tab] = {}
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def open(self, name: str, width: int = 1280, scheme: str = "light", *, unfolded: bool = False) -> "Tab":
        """The page, at its top; opened once and then looked at in many ways."""
        if name not in self.opened:
            self.opened[name] = self._load(name)
        tab = self.opened[name]
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(media="screen", color_scheme="dark" if scheme == "dark" else "light")
        tab.evaluate("all => document.querySelectorAll('details').forEach(each => { each.open = all })", unfolded)
        return tab

    def _load(self, name: str) -> "Tab":
        path = self.folder / f"{name}.html"
        path.write_text(PAGES[name](), encoding="utf-8")
        tab = self.browser.new_page()
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.goto(path.as_uri())
        return tab


@pytest.mark.parametrize("name", PAGES)
def test_nothing_scrolls_sideways(tabs: Tabs, name: str) -> None:
    tab = tabs.open(name, unfolded=True)
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        inner, outer = tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert inner <= outer == width
        beyond = tab.evaluate(
            """[...document.querySelectorAll('body *')].filter(each => {
                const box = each.getBoundingClientRect()
                const scrolls = ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
                return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1 || scrolls)
            }).map(each => each.outerHTML.slice(0, 100))"""
        )
        assert beyond == []


def test_the_page_asks_for_nothing_and_has_nothing_to_complain_about(tabs: Tabs) -> None:
    opened = [tabs.open(name, unfolded=True).url.partition("#")[0] for name in PAGES]
    assert sorted(tabs.requests) == sorted(opened)
    assert tabs.complaints == []


def test_names_appear_as_text_and_make_no_elements(tabs: Tabs) -> None:
    tab = tabs.open("nasty names", unfolded=True)
    assert tab.evaluate("document.querySelectorAll('script, img, b, [onerror], [onload]').length") == 0
    said = tab.evaluate("document.body.textContent")
    drawn = tab.evaluate("[...document.querySelectorAll('.wide svg text')].map(each => each.textContent)")
    for name in NASTY:
        assert name in said
        assert any(name.startswith(text.removesuffix("…")) for text in drawn if not text.startswith("0")), name


CONTRAST = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1)
        return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const luminance = colour => {
        const [r, g, b] = rgba(colour).slice(0, 3).map(c => c / 255).map(
            c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        return .2126 * r + .7152 * g + .0722 * b
    }
    const behind = each => {
        for (; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor
            if (rgba(colour)[3] > 0) return colour
        }
        return 'Canvas'
    }
    return [...document.querySelectorAll('body *')].filter(each =>
        [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()) &&
        each.checkVisibility() && !each.closest('svg[aria-hidden], title, desc')
    ).map(each => {
        const style = getComputedStyle(each)
        const front = luminance(each.closest('svg') ? style.fill : style.color)
        const back = luminance(behind(each))
        const ratio = (Math.max(front, back) + .05) / (Math.min(front, back) + .05)
        return [ratio, each.tagName, each.textContent.slice(0, 40)]
    })
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(tabs: Tabs, scheme: str) -> None:
    ground = set()
    for name in ("walkthrough", "check", "replay", "comparison"):
        tab = tabs.open(name, scheme=scheme, unfolded=True)
        found = tab.evaluate(CONTRAST)
        assert len(found) > 100
        assert [row for row in found if row[0] < 4.5] == []
        ground.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert ground == {"rgb(246, 247, 249)" if scheme == "light" else "rgb(16, 20, 26)"}


def test_letters_in_charts_are_large_enough_at_every_width(tabs: Tabs) -> None:
    tab = tabs.open("walkthrough")
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        heights = tab.evaluate(
            """[...document.querySelectorAll('figure svg')].filter(each => each.checkVisibility()).map(
                each => 12 * each.getBoundingClientRect().width / each.viewBox.baseVal.width)"""
        )
        assert len(heights) == 6  # one of two variants each
        assert all(10 <= height <= 15 for height in heights), (width, heights)


def test_the_log_is_opened_and_filtered_by_keyboard(tabs: Tabs) -> None:
    tab = tabs.open("walkthrough")
    shown = """[...document.querySelectorAll('.log tbody tr')].filter(each => each.checkVisibility()).map(
        each => each.cells[1].textContent)"""
    assert tab.evaluate(shown) == []
    tab.get_by_text("Show the log").focus()
    tab.keyboard.press("Enter")
    everything = tab.evaluate(shown)
    assert everything.count("submitted") == 4
    tab.get_by_role("radio", name="everything").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert tab.get_by_role("radio", name="preemptions").is_checked()
    assert tab.evaluate(shown) == ["preempted", "stopped", "requeued"] * 2
    tab.get_by_role("radio", name="updates").check()
    assert tab.evaluate(shown) == ["priority updated"]
    tab.get_by_role("radio", name="everything").check()
    assert tab.evaluate(shown) == everything


def test_the_navigation_leads_to_every_section(tabs: Tabs) -> None:
    tab = tabs.open("walkthrough", width=360)
    for link in tab.get_by_role("navigation").get_by_role("link").all():
        link.click()
        target = tab.locator(":target")
        heading = target.get_by_role("heading").first
        assert heading.text_content() == link.text_content()
        tab.go_back()


def test_a_screen_reader_finds_landmarks_tables_and_images(tabs: Tabs) -> None:
    for width in (360, 1280):  # cards are still tables
        tab = tabs.open("walkthrough", width=width)
        assert tab.get_by_role("banner").count() == 1
        assert tab.get_by_role("main").count() == 1
        assert tab.get_by_role("heading", level=1).text_content() == "✓Holds: 12 of 12 expectations hold"
        table = tab.get_by_role("table", name="Who stopped whom")
        assert table.get_by_role("row").count() == 3
        assert table.get_by_role("rowheader").all_text_contents() == ["QS1", "QS2"]
        assert tab.get_by_role("img", name="Jobs of QS1 and their attempts").count() == 1


def test_on_paper_nothing_is_folded_away_and_the_ground_is_white(tabs: Tabs) -> None:
    tab = tabs.open("walkthrough", scheme="dark")
    assert not tab.locator(".log table").is_visible()
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.locator(".log table").is_visible()
    assert not tab.get_by_role("navigation").is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert [row for row in tab.evaluate(CONTRAST) if row[0] < 4.5] == []


# --- the page of a replay --------------------------------------------------------------------------------


def test_a_replay_is_opened_part_by_part_by_keyboard(tabs: Tabs) -> None:
    tab = tabs.open("replay", width=768)
    folded = (
        "By share and size",
        "By share and instance type",
        "What is declared, and what it promises",
        "Show the log",
    )
    for summary in folded:
        details = tab.locator("details", has=tab.get_by_text(summary, exact=True))
        table = details.get_by_role("table").first
        assert not table.is_visible()
        details.locator("summary").focus()
        tab.keyboard.press("Enter")
        assert table.is_visible()
        tab.keyboard.press("Enter")
        assert not table.is_visible()


def test_the_navigation_of_a_replay_leads_to_every_part(tabs: Tabs) -> None:
    tab = tabs.open("replay", width=360)
    titles = [link.text_content() for link in tab.get_by_role("navigation").get_by_role("link").all()]
    assert titles == [
        *("In short", "What sharing buys and costs", "Over time", "Jobs", "Events", "Waits to the first start"),
        *("Capacity by share (2h is two instance-hours)", "Preemptions", "In money, at the prices given"),
        *("Jobs that can never run", "The longest waits", "How much is accident", "Against the recorded starts"),
        *("The policy", "What this rests on"),
    ]
    for title in titles:
        tab.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()
        assert tab.locator(":target").get_by_role("heading").first.text_content() == title
        top = tab.evaluate("document.querySelector(':target').getBoundingClientRect().top")
        assert top < 900
        tab.go_back()


def test_a_screen_reader_finds_what_a_replay_shows(tabs: Tabs) -> None:
    tab = tabs.open("replay")
    stopped = tab.get_by_role("table", name="Who stopped whom")
    assert stopped.get_by_role("row").count() > 1
    assert stopped.get_by_role("columnheader").all_text_contents()[:3] == ["A job of", "stopped a job of", "Kind"]
    picture = tab.get_by_role("img", name="Instances of ml.g5.xlarge of team-04 over time")
    assert picture.count() == 1
    described = picture.get_attribute("aria-describedby")
    told = tab.evaluate("id => document.getElementById(id).textContent", described)
    assert told.startswith("on average ")
    assert "own" in told
    baselines = tab.get_by_role("table", name="The same jobs three times")
    assert baselines.get_by_role("rowheader").all_text_contents()[0] == "Mean wait"


def test_the_pictures_of_a_replay_come_before_its_tables(tabs: Tabs) -> None:
    tab = tabs.open("replay")
    order = tab.evaluate("[...document.querySelectorAll('main section')].map(each => each.id)")
    assert order.index("run") == order.index("baselines") + 1
    assert order[-1] == "policy-0"
