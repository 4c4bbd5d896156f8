"""Prints the syntax of Vivado's commands, from Vivado's own help.

    python3 syntax.py HELP ─► NAME <tab> CATEGORIES <tab> SYNTAX <tab> VALUES

HELP is a JSON file with the help text of each command, or a folder that has one as `vivado.json`
below it (the package `xilinx-language-server`). VALUES are what an option takes, where the help
lists it: `-directive=Explore,Quick -mode=design,funcsim`. Commands of Tcl itself have no syntax in
their help and are left out.
"""

import json
import pathlib
import re
import sys


def section(lines, title):
    """The words of a section, up to the next blank line."""
    starts = [at for at, line in enumerate(lines) if line.strip() == title]
    words = []
    for line in lines[starts[0] + 1:] if starts else []:
        if not line.strip():
            break
        words += line.split()
    return " ".join(words)


def values(lines):
    """What the arguments section lists for each option, in bullets or in a sentence."""
    found, option, sentence = {}, None, ""
    for line in lines:
        starts = re.match(r"  (-\w+)\s", line)
        if starts or not line.strip():
            pattern = r"(?:Valid|Supported) values (?:include|are):?\s+([^.:*]*)\."
            listed = re.search(pattern, sentence)
            if option and listed:
                words = re.findall(r"\w+", re.sub(r"\([^)]*\)", "", listed[1]))
                found.setdefault(option, []).extend(w for w in words if w not in ("and", "or"))
            sentence = ""
        if starts:
            option = starts[1]
        bullet = re.match(r"   \*  (\w+)\s+-\s", line)
        if bullet and option:
            found.setdefault(option, []).append(bullet[1])
        sentence += " " + line.strip()
    return found


def main(path):
    path = pathlib.Path(path)
    if path.is_dir():
        path = next(path.glob("lib/python3*/site-packages/*/assets/json/vivado.json"))
    for name, text in sorted(json.loads(path.read_text()).items()):
        lines = text.splitlines()
        syntax = section(lines, "Syntax:").removeprefix(name).strip()
        if not section(lines, "Syntax:"):
            continue
        categories = section(lines, "Categories:").replace(",", "")
        lists = " ".join(f"{option}={','.join(words)}" for option, words in values(lines).items())
        print(name, categories, syntax, lists, sep="\t")


main(sys.argv[1])
