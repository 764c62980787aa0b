"""Generated corpora: short documents of made-up words, the same for the same arguments.

    python generated.py --documents 1000000 --classes 4 --output short.jsonl
"""

import argparse

import numpy

CHUNK = 20_000
WORDS_IN_COMMON = 40_000
WORDS_OF_A_CLASS = 400
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou"]


def word(number):
    """A made-up word for a number; different numbers have different words."""
    syllables = []
    for _ in range(3):
        number, syllable = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[syllable])
    return "".join(syllables) + (str(number) if number else "")


def zipf(count):
    """How likely each of so many words is, as a running sum: the k-th in proportion to 1/(k + 3)."""
    shares = 1.0 / (numpy.arange(count) + 3.0)
    return numpy.cumsum(shares[:-1] / shares.sum())


def write(path, documents, classes, seed=1, mean_words=14, topical=0.25, mistakes=0.05):
    """Writes JSON Lines with `label` and `text`.

    A document has a number of words that is Poisson distributed; each is, by the share `topical`, one of the words of
    its class, else one of the words that all classes have in common. The words of a class are its neighbours' words,
    too, to a third: some classes are hard to tell apart. A share of the labels is wrong.
    """
    random = numpy.random.default_rng(seed)
    words = numpy.array([word(number) for number in range(WORDS_IN_COMMON + classes * WORDS_OF_A_CLASS)])
    common, own = zipf(WORDS_IN_COMMON), zipf(WORDS_OF_A_CLASS)
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, documents, CHUNK):
            count = min(CHUNK, documents - start)
            truth = random.integers(classes, size=count)
            lengths = 1 + random.poisson(mean_words - 1, size=count)
            ends = numpy.cumsum(lengths)
            about = numpy.repeat(truth, lengths)
            neighbour = random.random(ends[-1]) < 1 / 3
            about = numpy.where(neighbour, about ^ 1, about) % classes
            drawn = random.random(ends[-1])
            topical_word = WORDS_IN_COMMON + about * WORDS_OF_A_CLASS + numpy.searchsorted(own, drawn)
            is_topical = random.random(ends[-1]) < topical
            texts = words[numpy.where(is_topical, topical_word, numpy.searchsorted(common, drawn))]
            wrong = random.random(count) < mistakes
            labels = numpy.where(wrong, random.integers(classes, size=count), truth)
            for row, (end, length) in enumerate(zip(ends, lengths)):
                text = " ".join(texts[end - length : end])
                file.write(f'{{"label":"c{labels[row]}","text":"{text}"}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--classes", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    write(arguments.output, arguments.documents, arguments.classes, arguments.seed)


if __name__ == "__main__":
    main()
