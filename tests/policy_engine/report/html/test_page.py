"""The page of a result: what it holds, in which order, and how large it gets."""

import re
import subprocess
import sys
from collections import Counter

import pytest
from syrupy.assertion import SnapshotAssertion

from policy_engine._version import __version__
from policy_engine.errors import InputError
from policy_engine.report.html import render_html, require_extra
from policy_engine.report.verification import VerificationReport
from tests.policy_engine.report.html.stories import (
    check_page,
    long_story,
    many_jobs_page,
    many_jobs_story,
    nasty_page,
    page_of,
    walkthrough,
    walkthrough_page,
)
from tests.policy_engine.report.html.test_rendering import Reader


def told(html: str) -> str:
    """What the page says, a line for each text, whatever the version."""
    body = html.partition("</style>")[2].replace(__version__, "VERSION")
    body = re.sub(r'<div class="narrow">.*?</div>', "", body, flags=re.DOTALL)
    return "\n".join(line for text in Reader(body.replace("<wbr>", "")).texts if (line := " ".join(text.split())))


def headings(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*>(.*?)</h2>", html)


def test_the_walkthrough_as_text(snapshot: SnapshotAssertion) -> None:
    assert told(walkthrough_page()) == snapshot


def test_the_answer_comes_first_and_what_it_rests_on_last() -> None:
    html = walkthrough_page()
    assert "<title>Holds: 12 of 12 expectations hold</title>" in html
    assert headings(html) == [
        "Expectations",
        "What happened",
        "Jobs",
        "Shares",
        "Preemptions",
        "Events",
        "The policy",
        "What this rests on",
    ]


def test_the_page_is_the_same_every_time() -> None:
    assert render_html(walkthrough()) == walkthrough_page()


def test_the_walkthrough_is_small() -> None:
    assert len(walkthrough_page().encode()) < 100_000


def test_charts_tell_those_who_cannot_see_them_what_they_show() -> None:
    read = Reader(walkthrough_page())
    charts = [attributes for tag, attributes in read.elements if tag == "svg" and attributes.get("role") == "img"]
    assert len(charts) == 2 * (1 + 3 + 2)  # the queue, three shares, and jobs of two of them; wide and narrow
    ids = Counter(read.attributes("id"))
    for chart in charts:
        assert ids[chart["aria-labelledby"]] == 1
        assert ids[chart["aria-describedby"]] == 1
    texts = set(read.texts)
    assert "Instances of ml.g5.xlarge of QS1 over time" in texts
    assert "from 0s to 1m: 1 own, 1 borrowed; from 1m to 3m: 1 own" in texts
    assert "qs2_job_1: ran from 1m on" in texts


def test_several_scenarios_are_told_apart() -> None:
    one = walkthrough().verified[0]
    html = render_html(VerificationReport([one, one]))
    assert headings(html)[:4] == [
        f"{what} of examples/walkthrough.yaml"
        for what in ("Expectations", "Expectations", "What happened", "What happened")
    ]
    assert headings(html)[4:] == ["The policy", "What this rests on"]
    assert set(Counter(Reader(html).attributes("id")).values()) == {1}


def test_a_check_shows_the_policy_its_guarantees_and_the_findings() -> None:
    said = told(check_page())
    for text in (
        "Quota shares",
        "LEND_AND_BORROW",
        "200 % of its limit",
        "Guaranteed",
        "Who can stop whose jobs",
        "QM106",
    ):
        assert text in said


def test_what_there_is_not_to_see_is_not_explained() -> None:
    busy = nasty_page()
    assert all(words in busy for words in ("work that was lost", "borrowed: in use", "terminated"))
    idle = page_of(long_story(0, shares=2))
    assert "reserved: idle" in idle
    assert not any(words in idle for words in ("borrowed: in use", "work that was", "terminated", "of no share"))


def test_of_many_jobs_the_most_telling_are_drawn_and_the_rest_is_averaged() -> None:
    html = many_jobs_page()
    assert "Of 600 jobs the 60 that were preempted most or waited longest are drawn" in html
    assert "(means over " in html
    drawn = set(re.findall(r"<text[^>]*>(job-\d+)<", html))
    assert len(drawn) == 60
    assert {job.name for job in many_jobs_story().jobs if job.preemptions > 1} <= drawn
    (events,) = re.findall(r'<div class="log">.*?</div>', html, re.DOTALL)
    assert events.count("<tr") == 1 + 200
    assert "the first 200 here" in events


@pytest.mark.nightly
def test_twenty_shares_and_a_hundred_thousand_jobs_make_a_page_of_at_most_two_megabytes() -> None:
    assert len(page_of(long_story(100_000, shares=20)).encode()) < 2_000_000


def test_without_the_extra_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.report.html.find_spec", lambda name: None if name == "vl_convert" else name)
    with pytest.raises(InputError) as error:
        require_extra()
    assert str(error.value) == "--html needs the extra: pip install 'constructs-quota[html]'"


def test_the_extra_is_loaded_only_for_a_page() -> None:
    code = "import sys, policy_engine.report.html; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"altair", "jinja2", "vl_convert", "markupsafe"}.isdisjoint(loaded)
