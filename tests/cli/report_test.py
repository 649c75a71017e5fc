"""The report of a small class with a hostile name, from outside: every link resolves, nothing a
student wrote is HTML, the exports parse, a browser draws the plots without a complaint."""
import csv
import html.parser
import io
import json
import re
import shutil
import subprocess
import urllib.parse
import xml.etree.ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLASS = ROOT / "tests/class"
HOSTILE = "=<b onclick=alert(1)>&\"O'Brien\"%2e\x1b[31m"
STUDENTS = {"ada": "bruno", HOSTILE: "jonas", "José": "tess", "%20": "rosa"}


class Page(html.parser.HTMLParser):
    """Links, ids, what stands open, and what lacks a label."""
    void = {"meta", "link", "br", "rect"}

    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.ids, self.open, self.faults, self.words = path, [], set(), [], [], ""
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.links += [has[name] for name in ("href", "src") if name in has]
        self.ids |= {has["id"]} if "id" in has else set()
        if tag not in self.void:
            self.open.append(tag)
        if any(name.startswith("on") or name == "style" for name in has):
            self.faults.append(f"{tag} acts: {has}")
        if tag == "th" and "scope" not in has:
            self.faults.append("a heading without scope")
        if tag in ("canvas", "svg", "img") and not {"aria-label", "aria-hidden", "alt"} & set(has):
            self.faults.append(f"{tag} without a label")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def out(gradlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for student, like in STUDENTS.items():
        (folder / student).mkdir()
        shutil.copy(CLASS / like / "clipping.cpp", folder / student)
    (folder / "empty").mkdir()
    (folder / "README.md").write_text("who hands in what")
    results = tmp_path_factory.mktemp("results")
    done = gradlab("grade", folder, "--lab", "clipping", "--out", results)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.fixture(scope="module")
def pages(out):
    found = [out / "report/index.html", *sorted((out / "report/students").glob("*.html"))]
    return [Page(path) for path in found]


def test_a_page_a_student_under_a_plain_name(out, pages):
    names = [page.path.name for page in pages[1:]]
    assert len(names) == len(STUDENTS) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9._%-]+\.html", name) for name in names), names
    stems = {urllib.parse.unquote(name.removesuffix(".html")) for name in names}
    assert stems == {*STUDENTS, "empty"}
    assert {path.stem for path in (out / "records").glob("*.json")} == {Path(n).stem for n in names}


def test_every_link_resolves(pages):
    by_path = {page.path: page for page in pages}
    for page in pages:
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            assert not url.scheme and not url.netloc, f"{page.path.name} needs a network: {link}"
            target = page.path
            if url.path:
                target = (page.path.parent / urllib.parse.unquote(url.path)).resolve()
            assert target.is_file(), f"{page.path.name}: {link}"
            assert not url.fragment or url.fragment in by_path[target].ids, link
    linked = {urllib.parse.unquote(link) for link in pages[0].links}
    assert {f"students/{page.path.name}" for page in pages[1:]} <= linked


def test_pages_are_sound_and_labelled(pages):
    for page in pages:
        assert not page.faults and not page.open, (page.path.name, page.faults, page.open)
        text = page.path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text and '<html lang="en">' in text
        assert "<b onclick" not in text and "\x1b" not in text
    assert HOSTILE.replace("\x1b", "\\x1b") in pages[0].words
    assert "README.md is no hand-in" in pages[0].words


def test_grades_csv_is_what_the_records_say(out):
    text = (out / "grades.csv").read_bytes().decode()
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    records = [json.loads(path.read_text()) for path in (out / "records").glob("*.json")]
    assert len(rows) == len(records)
    for record in records:
        name = record["student"].replace("\x1b", "\\x1b")  # a sheet is read with cat, too
        row = rows["'" + name if name.startswith("=") else name]
        assert row["score"] == str(record["score"])
        assert row["verdict"] == record["verdict"]
        for task in record["tasks"]:
            assert row[f"clipping.{task['id']}"] == str(task["points"])
    assert not any(cell.startswith(tuple("=+-@\t\r")) for row in rows.values() for cell in row.values())


def test_junit_counts_what_the_records_say(out):
    root = xml.etree.ElementTree.parse(out / "junit.xml").getroot()
    suites = {suite.get("name"): suite for suite in root.findall("testsuite")}
    assert len(suites) == len(STUDENTS) + 1
    assert suites["ada"].get("failures") == "0"
    for suite in suites.values():
        for child in ("failure", "error", "skipped"):
            assert int(suite.get({"failure": "failures", "error": "errors"}.get(child, child))) == len(
                suite.findall(f"testcase/{child}"))


def browse(path):
    return subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=3000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_a_browser_draws_the_plots_without_a_complaint(out, tmp_path):
    done = browse(out / "report/index.html")
    assert "CONSOLE" not in done.stderr, done.stderr
    assert "<canvas" in done.stdout
    if (out / "report/chart.min.js").exists():
        assert "<figure hidden" not in done.stdout, "a plot was not drawn"
    # The same look at a page that does complain.
    broken = tmp_path / "report"
    shutil.copytree(out / "report", broken)
    (broken / "plots.js").write_text("no_such_function();")
    (broken / "chart.min.js").touch()
    index = broken / "index.html"
    index.write_text(index.read_text().replace("</body>", '<script src="plots.js"></script></body>'))
    assert "CONSOLE" in browse(index).stderr
