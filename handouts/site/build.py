"""Builds the site: build.py FOLDER. Tells what to install where a tool is missing; needs no network."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

from pages import ROOT, handouts, page_id, title

MATHJAX = Path("/usr/share/javascript/mathjax")
AWESOME = Path("/usr/share/doxygen-awesome-css")
# What formulas drawn as SVG take: 2 MB of 40.
MATHJAX_PARTS = ("MathJax.js", "extensions/tex2jax.js", "extensions/MathEvents.js",
                 "extensions/MathZoom.js", "extensions/MathMenu.js",
                 "extensions/TeX/AMSmath.js", "extensions/TeX/AMSsymbols.js",
                 "jax/element/mml", "jax/input/TeX", "jax/output/SVG/config.js",
                 "jax/output/SVG/jax.js", "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX")
INPUTS = ("handouts", "reference/amp/include", "reference/monitor/include",
          *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("labs/*/*.hpp"))))


def missing():
    parts = (("doxygen", shutil.which("doxygen")), ("doxygen-awesome-css", AWESOME.is_dir()),
             ("libjs-mathjax", MATHJAX.is_dir()))
    return [package for package, there in parts if not there]


def copy_mathjax(into):
    for part in MATHJAX_PARTS:
        source, target = MATHJAX / part, into / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)


def menu(name, *kinds):
    """A reader's first page, and under it those that it lists."""
    first = ROOT / f"handouts/site/{name}.md"
    below = "".join(f'<tab type="user" url="@ref {page_id(path)}" title={quoteattr(title(path))}/>'
                    for kind in kinds for path in handouts(kind))
    return (f'<tab type="usergroup" url="@ref {page_id(first)}" title={quoteattr(title(first))}>'
            f"{below}</tab>")


def layout():
    return ('<doxygenlayout version="1.0"><navindex><tab type="mainpage" title="Start"/>'
            + menu("student", "labs", "others") + menu("instructor", "instructor", "decisions")
            + menu("library")
            + '<tab type="classlist" title="Classes"/><tab type="filelist" title="Headers"/>'
            + "</navindex></doxygenlayout>")


def run_doxygen(out):
    version = re.search(r"project\(gradlab VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    inputs = " ".join(f'"{ROOT / name}"' for name in INPUTS if (ROOT / name).exists())
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(layout())
        file.flush()
        return subprocess.run(["doxygen", ROOT / "handouts/site/Doxyfile"], cwd=ROOT, env={
            **os.environ, "ROOT": str(ROOT), "OUT": str(out), "AWESOME": str(AWESOME),
            "VERSION": version[1], "INPUTS": inputs, "LAYOUT": file.name}).returncode


def main():
    if missing():
        sys.exit(f"site: needs packages that are not here: apt-get install {' '.join(missing())}")
    out = Path(sys.argv[1]).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if run_doxygen(out):
        sys.exit("site: not built, for the warnings above")
    copy_mathjax(out / "mathjax")
    print(f"site: {out / 'index.html'}")


if __name__ == "__main__":
    main()
