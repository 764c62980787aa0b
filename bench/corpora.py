"""The corpora, read as any Python program would read them."""

import gzip
import json
from collections import Counter
from pathlib import Path

TEN_TOPICS = "earn,acq,money-fx,grain,crude,trade,interest,ship,wheat,corn".split(",")


class Corpus:
    """A gzipped file of JSON Lines, its text fields and its label field."""

    def __init__(self, file, text, label):
        self.file, self.text, self.label = file, text, label

    def read(self, folder, split):
        """Identifiers, texts and labels of the rows of one split."""
        ids, texts, labels = [], [], []
        with gzip.open(Path(folder) / self.file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["split"] == split:
                    ids.append(str(row["id"]))
                    texts.append("\n".join(row[field] or "" for field in self.text))
                    labels.append(row[self.label])
        return ids, texts, labels

    def arguments(self, folder, split):
        """The same as arguments of calibrant."""
        return [
            str(Path(folder) / self.file),
            *["--text", ",".join(self.text), "--id", "id", "--where", f"split={split}"],
        ]


class Generated:
    """A plain file of JSON Lines that generated.py wrote: all of it is for training."""

    def __init__(self, documents, classes, mean_words=14, seed=1, least=1):
        self.least = least
        self.documents, self.classes, self.mean_words, self.seed = documents, classes, mean_words, seed
        kept = "" if least == 1 else f"-of-{least}"
        self.file, self.label = f"generated-{documents}-{classes}{kept}.jsonl", "label"

    def write(self, folder):
        """Writes it unless it is there."""
        import generated

        path = Path(folder) / self.file
        if not path.is_file():
            unfinished = path.with_suffix(".unfinished")
            generated.write(unfinished, self.documents, self.classes, self.seed, self.mean_words)
            self.drop_rare(unfinished)
            unfinished.rename(path)

    def drop_rare(self, path):
        """Leaves out documents of classes with fewer than `least` of them, which peers refuse."""
        if self.least == 1:
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        labels = [json.loads(line)["label"] for line in lines]
        counts = Counter(labels)
        kept = (line for line, label in zip(lines, labels) if counts[label] >= self.least)
        path.write_text("".join(kept), encoding="utf-8")

    def count(self, folder):
        """How many documents were written."""
        with open(Path(folder) / self.file, "rb") as lines:
            return sum(1 for _ in lines)

    def read(self, folder, split):
        """Identifiers, texts and labels."""
        with open(Path(folder) / self.file, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return list(range(len(rows))), [row["text"] for row in rows], [row["label"] for row in rows]

    def arguments(self, folder, split):
        """The same as arguments of calibrant."""
        return [str(Path(folder) / self.file), "--text", "text"]


NEWSGROUPS = Corpus("20newsgroups.jsonl.gz", ["subject", "text"], "label")
REUTERS = Corpus("reuters21578.jsonl.gz", ["title", "body"], "topics")
INTENTS = Generated(15_000, 150, mean_words=9)
THOUSAND = Generated(100_000, 1_000)
THOUSAND_TENTH = Generated(10_000, 1_000, least=5)
MILLION = Generated(1_000_000, 4)
BY_NAME = {
    **{"newsgroups": NEWSGROUPS, "reuters": REUTERS, "reuters-all": REUTERS},
    **{"intents": INTENTS, "thousand-tenth": THOUSAND_TENTH},
}
