#!/usr/bin/env python3
"""Opens the HTML report in a Chromium: python3 check_page.py PITWALL.

No message on the console, a click on a finding moves the timeline to its place, keys and tables work, and names of the trace are
text. Exit code 77: no Chromium is installed, and the check is skipped.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from devtools import Browser, find_browser

COMMAND = sys.argv[1]
SKIPPED = 77
HOSTILE = "</script><img src=x onerror=\"console.log('in')\">'\u2028\u202e\"]}<!--"


def make_trace(path):
    """Twelve training steps of two operators with a long wait for data, as a Kineto file."""
    def event(category, name, start, length):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": length}

    events = []
    for i in range(12):
        at = 1000 + i * 4000
        events += [event("user_annotation", f"ProfilerStep#{i}", at, 4000), event("cpu_op", "aten::mm", at + 10, 400),
                   event("cpu_op", HOSTILE, at + 420, 200 + i % 3),
                   event("user_annotation", "enumerate(DataLoader)#next", at + 650, 3300)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))


def view(browser):
    return [int(browser.evaluate(f"document.querySelector('.stage').dataset.{end}")) for end in ("from", "to")]


def check_findings(browser):
    """The view after a click holds the place, and the place takes a good part of it."""
    assert browser.evaluate("document.querySelectorAll('#findings section.has-place').length") > 0, "no finding has a place"
    places = browser.evaluate("JSON.parse(document.getElementById('timeline-data').textContent).places")
    for selector in ("#findings section.has-place h3", "#findings td button.place"):
        browser.evaluate("document.querySelector('.stage').focus()")
        browser.key("0", "0")
        before = view(browser)
        name = browser.evaluate(f"document.querySelector({json.dumps(selector)}).closest('section').querySelector('[data-place]')"
                                ".dataset.place")
        browser.click(selector)
        begin, length, _ = places[name]
        start, end = view(browser)
        assert [start, end] != before, f"{selector}: the timeline did not move"
        assert start <= begin and begin + length <= end and end - start <= 3 * length + 1000, (selector, places[name], start, end)
        assert browser.evaluate("document.querySelectorAll('tr.shown').length") == 1
        assert browser.evaluate("document.getElementById('timeline-detail').textContent")


def check_keys(browser):
    browser.evaluate("document.querySelector('.stage').focus()")
    browser.key("Home")
    home = view(browser)
    browser.key("+", "+")
    start, end = view(browser)
    assert home[0] < start < end < home[1], "+ does not zoom"
    browser.key("Home")
    assert view(browser) == home
    seen = set()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight"):
        browser.key(key)
        seen.add(browser.evaluate("document.getElementById('timeline-detail').textContent"))
    assert len(seen) > 2, seen
    browser.key("Enter")
    assert view(browser) != home, "Enter does not fit the event"


def check_tables(browser):
    table = "document.querySelector('#breakdown table')"
    column = f"[...{table}.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value ?? row.cells[1].textContent))"
    for _ in range(2):
        browser.click("#breakdown th:nth-child(2) button")
        values = browser.evaluate(column)
        descending = browser.evaluate(f"{table}.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
        assert len(values) > 1 and values == sorted(values, reverse=descending), values


def check_theme(browser):
    back = "getComputedStyle(document.body).backgroundColor"
    seen = [browser.evaluate(back)]
    for _ in range(2):
        browser.click(".theme")
        seen.append(browser.evaluate(back))
    assert seen[0] == seen[1] != seen[2], seen  # the system's, light, dark


def main():
    program = find_browser()
    if program is None:
        print("skipped: no Chromium is installed (Debian: apt-get install chromium); .ci/install_packages.sh leaves it out, "
              "since it takes long to install")
        return SKIPPED
    # Processes of the browser may still write there while they end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        make_trace(folder / "a.json")
        subprocess.run([COMMAND, "analyze", str(folder / "a.json"), "--no-env", "--format", "html", "-o", str(folder / "a.html")],
                       check=True, stdout=subprocess.DEVNULL)
        browser = Browser(program, folder)
        try:
            browser.open(folder / "a.html", dark=True)
            dark = browser.evaluate("getComputedStyle(document.body).backgroundColor")
            browser.open(folder / "a.html")
            assert dark != browser.evaluate("getComputedStyle(document.body).backgroundColor"), "no dark theme"
            assert browser.evaluate("document.querySelectorAll('img').length") == 0
            check_findings(browser)
            check_keys(browser)
            check_tables(browser)
            check_theme(browser)
            assert len(browser.call("Page.printToPDF")["data"]) > 10_000
            assert browser.messages == [], browser.messages
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
