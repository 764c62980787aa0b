"""The corpora, read as any Python program would read them."""

import gzip
import json
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


NEWSGROUPS = Corpus("20newsgroups.jsonl.gz", ["subject", "text"], "label")
REUTERS = Corpus("reuters21578.jsonl.gz", ["title", "body"], "topics")
BY_NAME = {"newsgroups": NEWSGROUPS, "reuters": REUTERS, "reuters-all": REUTERS}
