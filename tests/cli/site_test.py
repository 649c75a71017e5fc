"""The site and the handouts keep their word: every link leads somewhere, nothing is asked of a network,
every command, option and file that a handout names is there."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT
from site_pages import (broken_links, commands, is_path, missing_loads, missing_paths, network_loads, pages,
                        reachable, texts, wrong_command)

HANDOUTS = [path for path in sorted((ROOT / "handouts").rglob("*.md"))
            if path.parent.name != "site"]
PARTS = ("handouts", "labs", "reference/amp/include", "reference/monitor/include", "CMakeLists.txt")
SITE = pytest.mark.skipif(shutil.which("doxygen") is None,
                          reason="doxygen is not installed: apt-get install doxygen "
                                 "doxygen-awesome-css libjs-mathjax")


def page_of(handout):
    name = handout.relative_to(ROOT / "handouts").with_suffix("")
    return f"page_{re.sub(r'[^A-Za-z0-9_]', '_', str(name))}.html"


def build(root, out, **how):
    return subprocess.run(["/usr/bin/python3", "-B", root / "handouts/site/build.py", out],
                          text=True, capture_output=True, timeout=300, **how)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    told = build(ROOT, out)
    assert told.returncode == 0, told.stderr
    return out


@pytest.fixture
def doctored(site, tmp_path):
    """A copy of the site with something added to its first page."""
    def add(words):
        shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("mathjax", "search"))
        first = tmp_path / "site/index.html"
        first.write_text(first.read_text().replace("</body>", words + "</body>"))
        return tmp_path / "site"
    return add


@pytest.fixture(scope="module")
def help_of(gradlab):
    kept = {}

    def ask(verb):
        if tuple(verb) not in kept:
            told = gradlab(*verb, "--help")
            kept[tuple(verb)] = told.stdout if told.returncode == 0 else None
        return kept[tuple(verb)]
    return ask


# The pages

@SITE
def test_every_link_leads_to_a_page_and_a_place_on_it(site):
    assert broken_links(site) == []


@SITE
@pytest.mark.parametrize("link", ["nowhere.html", "page_clipping.html#nowhere", "#nowhere"])
def test_a_link_that_leads_nowhere_would_be_told(doctored, link):
    assert broken_links(doctored(f'<a href="{link}">x</a>')) == [f"index.html: {link}"]


@SITE
def test_every_script_and_style_sheet_of_a_page_is_in_the_site(site):
    assert missing_loads(site) == []


@SITE
def test_no_page_asks_anything_of_the_network(site):
    assert network_loads(site) == []


@SITE
@pytest.mark.parametrize("words", ['<script src="https://cdn.example/x.js"></script>',
                                   '<img src="//cdn.example/x.png"/>',
                                   '<link href="http://cdn.example/x.css"/>'])
def test_a_page_that_asks_the_network_would_be_told(doctored, words):
    assert len(network_loads(doctored(words))) == 1


@SITE
def test_every_handout_is_in_the_site_and_found_by_following_links(site):
    found = pages(site)
    for handout in HANDOUTS:
        assert page_of(handout) in reachable(site), handout
        for heading in re.findall(r"^#+ ([\w ,:.]+)$", handout.read_text(), re.MULTILINE):
            assert heading in found[page_of(handout)].text, f"{handout}: {heading}"


@SITE
def test_every_contract_and_every_header_of_the_libraries_is_in_the_site(site):
    shown = "".join(page.text for name, page in pages(site).items() if name.endswith("_8hpp.html"))
    headers = [*ROOT.glob("labs/*/*.hpp"), *ROOT.glob("reference/*/include/**/*.hpp")]
    assert len(headers) > 15
    for header in headers:
        assert f"{header.name} File Reference" in shown, header
    for said in ("The L2 norm of all gradients taken as one vector", "REQUIRES"):
        assert said in shown


@SITE
def test_the_search_finds_functions_and_pages(site):
    index = "".join(path.read_text() for path in (site / "search").glob("all_*.js"))
    for entry in ("clip_5fgradients", "GradScaler", "page_clipping.html"):
        assert entry in index


@SITE
def test_formulas_can_be_drawn_without_a_network(site):
    drawn = 0
    for handout in HANDOUTS:
        formulas = len(re.findall(r"\$\$.+?\$\$", handout.read_text(), re.DOTALL))
        text = (site / page_of(handout)).read_text()
        assert text.count(r"\[") == text.count('class="formulaDsp"') == formulas, handout
        assert "$$" not in text, handout
        drawn += formulas
    assert drawn > 0
    page = (site / "page_clipping.html").read_text()
    asked = [f"extensions/{name}" for name in re.search(r"extensions: \[(.*)\]", page)[1].replace(
        '"', "").split(", ")]
    asked += [f"jax/{name}/config.js" for name in re.search(r"jax: \[(.*)\]", page)[1].replace(
        '"', "").split(",")]
    for name in [*asked, "jax/element/mml/jax.js", "jax/input/TeX/jax.js", "jax/output/SVG/jax.js",
                 "jax/output/SVG/fonts/TeX/fontdata.js"]:
        assert (site / "mathjax" / name).is_file(), name


@SITE
def test_a_browser_draws_every_formula(site):
    browser = shutil.which("chromium")
    if browser is None:  # what it would load is looked up above
        return
    for handout in HANDOUTS:
        formulas = handout.read_text().count("$$") // 2
        if formulas:
            drawn = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                 "--dump-dom", f"file://{site / page_of(handout)}"],
                text=True, capture_output=True, timeout=120).stdout
            assert drawn.count('class="MathJax_SVG_Display"') == formulas, handout
            assert "merror" not in drawn and "failed to load" not in drawn, handout


# The build

@pytest.fixture
def tree(tmp_path):
    for part in PARTS:
        source, target = ROOT / part, tmp_path / "tree" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    return tmp_path / "tree"


@SITE
def test_a_handout_that_doxygen_warns_of_ends_the_build(tree, tmp_path):
    handout = tree / "handouts/clipping.md"
    handout.write_text(handout.read_text() + "\nSee \\ref nowhere.\n")
    told = build(tree, tmp_path / "out")
    assert told.returncode != 0 and "nowhere" in told.stderr


def test_what_is_missing_is_told_in_one_line_with_its_package(tmp_path):
    told = build(ROOT, tmp_path / "out", env={"PATH": str(tmp_path)})
    assert told.returncode != 0 and len(told.stderr.splitlines()) == 1
    assert "apt-get install doxygen" in told.stderr


# The handouts' words

@pytest.mark.parametrize("text", texts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_option_that_is_shown_is_real(text, help_of):
    wrong = {line: why for line in commands(text.read_text())
             if (why := wrong_command(line, help_of))}
    assert not wrong


def test_commands_are_looked_at_and_one_that_is_not_would_be_told(help_of):
    assert sum(len(commands(text.read_text())) for text in texts()) > 80
    shown = commands("`./gradlab chekc`\n```\n$ ./gradlab check --taks 2  # x\n```\n"
                     "`./gradlab log expain x`, `./gradlab check --task 2`")
    told = [wrong_command(line, help_of) for line in shown]
    assert told == ["no such command: chekc", "no such command: log expain", "",
                    "no such option: --taks"]


@pytest.mark.parametrize("text", texts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_that_is_shown_is_python(text):
    for block in re.findall(r"^```python\n(.*?)^```$", text.read_text(), re.DOTALL | re.MULTILINE):
        compile(block, str(text), "exec")


@pytest.mark.parametrize("text", texts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_of_the_repository_that_is_named_exists(text):
    assert missing_paths(text.read_text()) == []


def test_paths_are_looked_at_and_one_that_is_not_there_would_be_told():
    assert missing_paths("`labs/clipping/cliping.hpp`, `gradlab/amp/clips.hpp`, `tests/`") == [
        "labs/clipping/cliping.hpp", "gradlab/amp/clips.hpp"]
    assert is_path("labs/<slug>/lab.toml") and not is_path("work/clipping.cpp")
