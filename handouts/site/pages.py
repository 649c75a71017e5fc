"""Which pages the site has, in which order: the labs' by lab.toml, the others by their names. A new
handout needs no line here."""
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("reference/amp/include", "reference/monitor/include")


def page_id(path):
    """handouts/decisions/0002-mangling.md -> page_decisions_0002_mangling"""
    return "page_" + re.sub(r"\W", "_", str(path.relative_to(ROOT / "handouts").with_suffix("")))


def title(path):
    """The handout's first line. Doxygen's menus would show a `word` of it as a tag."""
    return path.read_text().splitlines()[0].removeprefix("# ").replace("`", "")


def labs():
    """slug -> manifest, of the labs with a handout, in the order of the course."""
    found = {path.parent.name: tomllib.loads(path.read_text())
             for path in ROOT.glob("labs/*/lab.toml")}
    return {slug: found[slug] for slug in sorted(found, key=lambda one: found[one]["order"])
            if (ROOT / f"handouts/{slug}.md").is_file()}


def handouts(kind):
    if kind == "labs":
        return [ROOT / f"handouts/{slug}.md" for slug in labs()]
    if kind == "others":
        return [path for path in sorted(ROOT.glob("handouts/*.md")) if path.stem not in labs()]
    return sorted(ROOT.glob(f"handouts/{kind}/*.md"))


def headers():
    return [path for folder in HEADERS for path in sorted(ROOT.glob(f"{folder}/**/*.hpp"))]


def included_as(path):
    """How a header is named in an #include, which is how Doxygen knows it; a lab's by its path here."""
    folder = next((ROOT / one for one in HEADERS if path.is_relative_to(ROOT / one)), ROOT)
    return path.relative_to(folder)
