"""what: words and messages in a paragraph, and where to read on."""
import re

import pytest

from conftest import ROOT

TEXTS = (ROOT / "autograder/cli/texts/what.toml").read_text()
NAMES = [re.findall(r'"((?:[^"\\]|\\.)*)"', line) for line in re.findall(r"^names = \[(.*)\]$", TEXTS, re.M)]
READ = re.findall(r'^read = "([^"#]+)#([^"]+)"$', TEXTS, re.M)


def test_every_name_leads_to_its_own_paragraph(gradlab):
    for names in NAMES:
        for name in names:
            told = gradlab("what", name)
            assert told.stdout.splitlines()[0] == names[0], name


def test_no_two_words_share_a_name():
    plain = [re.sub(r"[^a-z0-9]+", " ", name.lower()).strip() for names in NAMES for name in names]
    twice = {name for name in plain if plain.count(name) > 1}
    own = [{re.sub(r"[^a-z0-9]+", " ", name.lower()).strip() for name in names} for names in NAMES]
    assert all(sum(name in each for each in own) == 1 for name in twice)


def test_where_to_read_on_is_there():
    assert len(READ) == len(NAMES)
    for file, heading in READ:
        text = (ROOT / file).read_text()
        assert re.search(rf"^#+ {re.escape(heading)}$", text, re.M), (file, heading)


def test_every_verdict_has_a_word(gradlab):
    source = (ROOT / "autograder/record/verdict.cpp").read_text()
    verdicts = re.findall(r'std::string_view\("(\w+)"\)', source)
    assert len(verdicts) > 10
    for verdict in verdicts:
        assert gradlab("what", verdict).stdout.startswith(verdict), verdict


@pytest.mark.parametrize("asked, shown", [
    (["Growth-Tracker"], "growth tracker"),
    (["growth", "tracker"], "growth tracker"),
    (["terminate called: what(): a leaf Variable that requires grad\nis being used in an in-place operation."],
     "a leaf Variable"),
    (["x.cpp:12:3: error: use of undeclared identifier 'torhc'"], "use of undeclared"),
    (["RuntimeError: unscale_() has already been called on this optimizer since the last update()."],
     "unscale_() has already"),
])
def test_case_punctuation_and_what_stands_around_do_not_matter(gradlab, asked, shown):
    assert gradlab("what", *asked).stdout.startswith(shown)


def test_an_unknown_word_names_the_nearest(gradlab):
    told = gradlab("what", "grwoth trakcer")
    assert told.returncode == 2 and "growth tracker" in told.stderr and told.stdout == ""
    told = gradlab("what", "\x1b[31mzzzzzz")
    assert told.returncode == 2 and "\x1b" not in told.stderr


def test_without_a_word_all_are_listed_in_any_width(gradlab):
    for columns in (40, 80):
        told = gradlab("what", env={"COLUMNS": str(columns)})
        joined = " ".join(told.stdout.split())
        assert all(names[0] in joined for names in NAMES)
        longest = max(len(word) for word in told.stdout.split())
        assert all(len(line) <= max(columns, longest + 2) for line in told.stdout.splitlines()[:-1])
