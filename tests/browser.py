"""Headless Chromium for the tests of what a person sees: the one on this machine, never a download."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Debian, other Linux, and where Chrome puts itself on a Mac.
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# No sandbox: CI runs as root. The others keep the browser from calling home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> Path | None:
    """The browser that the CHROMIUM variable names, or the first one found."""
    names = (os.environ["CHROMIUM"],) if "CHROMIUM" in os.environ else NAMES
    return next((Path(found) for name in names if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """A running Chromium: ``browser.new_page(viewport={"width": 360, "height": 800}, color_scheme="dark")``.

    Skips where there is none, but not in CI (CI=true), where a missing browser would hide what it checks.
    """
    executable = find_chromium()
    if executable is None:
        message = "no Chromium or Chrome found: install one (Debian: apt-get install chromium) or name it in CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    # Here, so that only the tests that open a page wait for the import.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield running
        running.close()
