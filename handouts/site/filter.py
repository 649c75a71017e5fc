"""What Doxygen reads in place of a file, as its INPUT_FILTER: the repository's Markdown and headers are
written for people who open them as they are, and this adds what only Doxygen needs.

Markdown: an id for the page, formulas in Doxygen's words, links where a file of the site is named, and
the lists of pages. Headers: a comment before a declaration becomes that declaration's documentation."""
import re
import sys
from pathlib import Path

from pages import HEADERS, ROOT, handouts, headers, included_as, labs, page_id, title

WORDS = r"(REQUIRES|ENSURES|THROWS?|SOURCE|Returns?)\b"


def entry(path):
    slug = path.stem
    lab = labs().get(slug) if path.parent.name == "handouts" else None
    note = (f", {lab['minutes']} minutes. Its contract: \\ref labs/{slug}/{slug}.hpp \"{slug}.hpp\""
            if lab else "")
    return f"- \\subpage {page_id(path)}{note}"


def entries(kind):
    """What stands for the line `<!-- pages KIND -->`."""
    if kind == "headers":
        return "\n".join(f"- \\ref {included_as(path)}" for path in headers())
    return "\n".join(map(entry, handouts(kind)))


def place(name):
    """What Doxygen calls a file of the site, or nothing: handouts/x.md, labs/x/x.hpp, a header."""
    if re.fullmatch(r"handouts/[\w/-]+\.md", name) and (ROOT / name).is_file():
        return page_id(ROOT / name)
    known = {str(found): included_as(path) for path in headers()
             for found in (path.relative_to(ROOT), included_as(path))}
    return name if name in {f"labs/{slug}/{slug}.hpp" for slug in labs()} else known.get(name)


def link(match):
    """`handouts/clipping.md` -> the same words, as a link to that page."""
    found = place(match[1])
    return f"<tt>\\ref {found} \"{match[1]}\"</tt>" if found else match[0]


def prose(text):
    text = re.sub(r"\$\$(.+?)\$\$", r"\\f[\1\\f]", text, flags=re.DOTALL)
    text = re.sub(r"`([\w./-]+)`", link, text)
    return re.sub(r"<!-- pages (\w+) -->", lambda found: entries(found[1]), text)


def markdown(path, text):
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    text = "".join(part if part.startswith("```") else prose(part) for part in parts)
    if path.stem == "start":  # the main page has no id of its own
        return text
    return text.replace(text.splitlines()[0], f"# {title(path)} {{#{page_id(path)}}}", 1)


def plain(line):
    """Nothing in a comment is a command or a tag: <, @ and their like are meant as they stand."""
    parts = line.split("`")
    parts[::2] = (re.sub(r"[\\@<>#%&]", r"\\\g<0>", part) for part in parts[::2])
    line = "`".join(parts)
    return re.sub(r"\bhandouts/[\w/-]+\.md\b",
                  lambda found: f'\\ref {place(found[0])} "{found[0]}"', line)


def comment(lines, indent, head):
    """A block of `//` lines as Doxygen's `///`: its example is code, each promise a paragraph."""
    out, code = [], False
    for line in lines:
        deep = line.startswith("  ")
        if code and not deep:
            out.append("```")
            code = False
        if deep and not code and out and out[-1].endswith(":"):
            out += ["", "```cpp"]
            code = True
        if code:
            out.append(line[2:])
            continue
        if re.match(WORDS, line):
            out.append("")
        out.append(re.sub("^" + WORDS, r"**\1**", plain(line)))
    if code:
        out.append("```")
    return [f"{indent}/// {line}".rstrip() for line in [*head, *out]]


def header(path, text):
    out, block, hidden = [], [], False
    for number, line in enumerate(text.splitlines()):
        found = re.match(r"( *)//(?: (?:-{4} )?(.*)|)$", line)
        if found:
            block.append((found[1], found[2] or ""))
            continue
        if block:
            indent, words = block[0][0], [words for _, words in block]
            # what opens the file, or has nothing under it, speaks of the file as a whole
            whole = number == len(block) or (not line.strip() and not indent)
            if whole or line.strip():
                head = [f"\\file {included_as(path)}"] if whole else ["\\brief"]
                out += comment(words, indent, [*head, "\\brief"] if number == len(block) else head)
            block = []
        # Doxygen leaves private members out, but for a link to the types among them
        if line == " private:":
            hidden = True
            out.append("/// \\cond")
        elif hidden and line == "};":
            hidden = False
            out.append("/// \\endcond")
        # the comment behind a member is that member's
        out.append(re.sub(r"^( +[^/\"]*[;,}]) +// ", r"\1  ///< ", line))
    return "\n".join(out) + "\n"


def main():
    path = Path(sys.argv[1]).resolve()
    text = path.read_text()
    print(markdown(path, text) if path.suffix == ".md" else header(path, text), end="")


if __name__ == "__main__":
    main()
