"""What site_test.py looks for, each as a list of what is wrong: in the pages of the site, and in the
handouts' own words. An empty list is a promise kept."""
import re
import shlex
from html.parser import HTMLParser

from conftest import ROOT

# An example's lab, which is not there; what is said of it must hold of one that is.
EXAMPLE_LAB, REAL_LAB = "weight_decay", "clipping"
# Folders that the command makes; what lies in them can't be looked up.
MADE = ("work", "results", "build", ".gradlab")


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loads, self.text = [], set(), [], path.read_text()
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors |= {named[key] for key in ("id", "name") if named.get(key)}
        if tag in ("a", "area") and named.get("href"):
            self.links.append(named["href"])
        if tag in ("script", "link", "img", "iframe", "source", "object"):
            self.loads += [named[key] for key in ("src", "href", "data") if named.get(key)]


def pages(site):
    return {path.name: Page(path) for path in sorted(site.glob("*.html"))}


def is_outside(address):
    return re.match(r"(?:[a-z]+:|//)", address) is not None


def menu_links(site):
    """The addresses in the menu and in the tree, which scripts put into every page."""
    scripts = [site / "menudata.js", site / "navtreedata.js"]
    return sorted({found for script in scripts
                   for found in re.findall(r'"([\w-]+\.html(?:#\w+)?)"', script.read_text())})


def broken_links(site):
    found = pages(site)
    wanted = [(name, link) for name, page in found.items() for link in page.links]
    wanted += [("the menu", link) for link in menu_links(site)]
    broken = []
    for name, link in wanted:
        target, _, anchor = link.partition("#")
        if is_outside(link):
            continue
        page = found.get(target or name)
        if page is None and not (target and (site / target).is_file()):
            broken.append(f"{name}: {link}")
        elif page is not None and anchor and anchor not in page.anchors:
            broken.append(f"{name}: {link}")
    return broken


def missing_loads(site):
    return [f"{name}: {load}" for name, page in pages(site).items() for load in page.loads
            if not is_outside(load) and not (site / load).is_file()]


def network_loads(site):
    loads = [f"{name}: {load}" for name, page in pages(site).items() for load in page.loads
             if re.match(r"(?:https?:)?//", load)]
    return loads + [f"{path.name}: {found}" for path in site.glob("*.css") for found in re.findall(
        r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]+", path.read_text())]


def reachable(site):
    """Pages that are found by following links from the first, menus left out."""
    found, seen, left = pages(site), set(), ["index.html"]
    while left:
        name = left.pop()
        if name in seen or name not in found:
            continue
        seen.add(name)
        left += [link.partition("#")[0] for link in found[name].links]
    return seen


def texts():
    return [ROOT / "README.md", *sorted((ROOT / "handouts").rglob("*.md")),
            *sorted((ROOT / "reference").glob("*/README.md"))]


def code_lines(text):
    """What stands in backticks, and the lines of code blocks."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    inline = [re.sub(r"\s+", " ", words) for words in re.findall(r"`([^`]+)`", prose)]
    return inline + [line for block in blocks for line in block.splitlines()]


def commands(text):
    return [line[line.index("./gradlab"):] for line in code_lines(text) if "./gradlab" in line]


def wrong_command(line, help_of):
    """What is wrong with a shown command, or ''. help_of(words) gives a command's --help, or None."""
    words = shlex.split(line, comments=True)[1:]
    if not words or words[0] in ("COMMAND", "setup"):  # the second is the script's, before all else
        return "" if words[1:] in ([], ["--help"], ["instructor"]) else "no such words"
    verb = words[:2] if words[0] == "log" else words[:1]
    told = help_of([word for word in verb if not word.startswith("-")])
    if told is None:
        return f"no such command: {' '.join(verb)}"
    known = set(re.findall(r"(?<![\w-])--?[\w-]+", told))
    wrong = [word for word in words if word.startswith("-") and word.split("=")[0] not in known]
    return f"no such option: {' '.join(wrong)}" if wrong else ""


def is_there(path):
    path = path.replace(EXAMPLE_LAB, REAL_LAB).replace("<slug>", REAL_LAB).rstrip("/")
    above = [ROOT, *ROOT.glob("reference/*/include")]
    return any(list(folder.glob(path + ending)) for folder in above for ending in ("", ".cpp"))


def is_path(words):
    tops = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in MADE]
    return (re.fullmatch(r"[\w.<>*-]+(/[\w.<>*-]+)*/?", words) is not None and "/" in words
            and words.split("/")[0] in (*tops, "gradlab"))


def missing_paths(text):
    return [words for words in code_lines(text) if is_path(words) and not is_there(words)]
