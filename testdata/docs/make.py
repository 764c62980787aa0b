"""Makes the small files that the pages under docs/ work with: `python3 testdata/docs/make.py`.

Everything is drawn with fixed seeds, so that the files, and what the pages show of them, stay the same.
"""

import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent

QUEUES = {
    "access": {
        "subjects": ["cannot sign in", "password reset", "locked out", "two-factor code", "new phone, no code"],
        "bodies": [
            "the reset link for my password has expired",
            "i never get the six-digit code on my phone",
            "my account is locked after three attempts",
            "the sign-in page says my email is unknown",
            "i changed my phone and lost the authenticator",
        ],
    },
    "billing": {
        "subjects": ["charged twice", "invoice is wrong", "refund please", "card declined", "question about my bill"],
        "bodies": [
            "i was charged twice for the same order",
            "the invoice shows a price that we never agreed on",
            "please refund the amount to my credit card",
            "my card was declined although there is money on it",
            "i need an invoice with our tax number",
        ],
    },
    "delivery": {
        "subjects": ["parcel missing", "late delivery", "wrong address", "box damaged", "where is my order"],
        "bodies": [
            "the parcel was due on monday and has not arrived",
            "the tracking page has not changed for a week",
            "the courier left the box at the wrong address",
            "the box was open and one item is missing",
            "please send the order to my new address",
        ],
    },
    "outage": {
        "subjects": ["site is down", "error 500", "app keeps crashing", "very slow today", "timeout at checkout"],
        "bodies": [
            "the page shows an error whenever i press save",
            "the app crashes as soon as it opens",
            "every request ends in a timeout since this morning",
            "the dashboard is down for our whole team",
            "the search is so slow that it cannot be used",
        ],
    },
}
COMMON_SUBJECTS = ["help needed", "question about my order", "problem with my account", "urgent"]
OPENERS = ["hello", "hi there", "good morning", "dear team", "to whom it may concern", "hi"]
FILLERS = [
    "i have been a customer for years",
    "this is the second time i write",
    "can you please look into it",
    "i tried it on my phone and on my laptop",
    "i could not find it in your help pages",
    "nobody answered my last message",
    "it worked fine last week",
    "thanks for your help",
]


def ticket(dice, queue):
    """Subject and body of a ticket; one in eight says more about another queue than about its own."""
    spoken = queue if dice.random() > 0.12 else dice.choice(list(QUEUES))
    words = QUEUES[spoken]
    subject = dice.choice(words["subjects"] if dice.random() < 0.6 else COMMON_SUBJECTS)
    sentences = [dice.choice(words["bodies"])]
    if dice.random() < 0.25:
        sentences.append(dice.choice(QUEUES[dice.choice(list(QUEUES))]["bodies"]))
    sentences += dice.sample(FILLERS, dice.randrange(1, 4))
    dice.shuffle(sentences)
    return subject, f"{dice.choice(OPENERS)} {'. '.join(sentences)}."


def tickets(seed, count, first):
    dice = random.Random(seed)
    rows = []
    for number in range(count):
        queue = dice.choices(list(QUEUES), weights=[3, 4, 3, 2])[0]
        rows.append((f"T{first + number}", *ticket(dice, queue), queue))
    return rows


def write(name, header, rows, separator=","):
    def cell(value):
        text = str(value)
        return f'"{text}"' if separator in text or '"' in text else text

    lines = [separator.join(header)] if header else []
    lines += [separator.join(cell(value) for value in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def support_desk():
    write("tickets.csv", ["id", "subject", "body", "queue"], tickets(1, 400, 1001))
    march = tickets(2, 200, 3001)
    write("tickets-march.csv", ["id", "subject", "body", "queue"], march)
    write("held-out.csv", ["id", "subject", "body", "queue"], tickets(3, 200, 2001))
    write("new.csv", ["id", "subject", "body"], [row[:3] for row in tickets(4, 4, 4001)])

    # Tickets of known queues, and job applications, for which there is no queue.
    dice = random.Random(12)
    applications = [
        "i would like to apply for the position of an engineer",
        "please find my letter of application and my curriculum vitae",
        "do you have an internship for students this summer",
    ]
    mixed = tickets(13, 120, 6001)
    for number in range(40):
        body = f"{dice.choice(OPENERS)} {dice.choice(applications)}. {dice.choice(FILLERS)}."
        mixed.append((f"T{6201 + number}", "job application", body, "jobs"))
    write("mixed.csv", ["id", "subject", "body", "queue"], mixed)

    # What another program stated of the tickets of March: right more often than not, and too sure.
    dice = random.Random(5)
    rows = []
    for row in march:
        strengths = [dice.gauss(0, 1) + (1.5 if queue == row[3] else 0) for queue in QUEUES]
        total = sum(math.exp(2 * strength) for strength in strengths)
        rows.append((row[0], *(f"{math.exp(2 * strength) / total:.4f}" for strength in strengths)))
    write("forest.csv", ["id", *QUEUES], rows)

    dice = random.Random(6)
    rows = []
    for row in tickets(7, 300, 5001):
        plan = dice.choice(["free", "team", "business"])
        age = int(dice.expovariate(1 / 400)) if row[3] != "access" else int(dice.expovariate(1 / 40))
        customer = f"C{dice.randrange(150)}"
        rows.append((*row, age, plan, dice.choice(["AT", "DE", "FR", "NL"]), customer))
    write("accounts.csv", ["id", "subject", "body", "queue", "age_days", "plan", "country", "customer"], rows)

    dice = random.Random(8)
    rows = []
    for number in range(300):
        weight, distance = dice.lognormvariate(0.5, 0.7), dice.uniform(5, 900)
        carrier = dice.choice(["bike", "train", "van"])
        late = -2 + 0.4 * weight + 0.003 * distance + {"bike": 0.8, "train": -0.6, "van": 0}[carrier]
        label = "late" if dice.random() < 1 / (1 + math.exp(-late)) else "on_time"
        rows.append((f"P{number + 1}", f"{weight:.2f}", "" if number % 25 == 7 else f"{distance:.0f}", carrier, label))
    write("parcels.csv", ["id", "weight_kg", "distance_km", "carrier", "outcome"], rows)


def scores():
    dice = random.Random(9)

    def margins(count, first):
        rows = []
        for number in range(count):
            truth = dice.random() < 0.3
            rows.append((f"S{first + number}", f"{dice.gauss(1.1 if truth else -0.9, 1.0):.4f}", "yes" if truth else "no"))
        return rows

    write("scores.csv", ["id", "margin", "truth"], margins(500, 1))
    write("later.csv", ["id", "margin", "truth"], margins(300, 1001))
    write("unlabelled.csv", ["id", "margin"], [row[:2] for row in margins(4, 2001)])

    animals = ["cat", "dog", "owl"]
    lines = []
    for _ in range(300):
        animal = dice.choices(animals, weights=[5, 4, 1])[0]
        strengths = [dice.gauss(0, 1) + (1.5 if name == animal else 0) for name in animals]
        total = sum(math.exp(2.5 * strength) for strength in strengths)
        row = {f"p_{name}": round(math.exp(2.5 * s) / total, 4) for name, s in zip(animals, strengths)}
        lines.append(json.dumps({**row, "animal": animal}))
    (HERE / "animals.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def help_pages():
    """A small collection with queries and judgements: pages of a help centre, two for every complaint."""
    dice = random.Random(10)
    pages, queries, judgements = [], [], []
    for queue, words in QUEUES.items():
        for number, (subject, body) in enumerate(zip(words["subjects"], words["bodies"])):
            for part in ("what to do", "why it happens"):
                near = dice.choice(words["bodies"])
                text = f"{body}. {dice.choice(FILLERS)}. {near}. {dice.choice(FILLERS)}."
                name = f"{queue}-{number + 1}{'a' if part == 'what to do' else 'b'}"
                pages.append({"id": name, "title": f"{subject}: {part}", "text": text, "part": queue})
            query = f"q{len(queries) + 1}"
            kept = [word for word in body.split() if dice.random() < 0.6]
            queries.append((query, " ".join(kept)))
            judgements += [(query, 0, f"{queue}-{number + 1}a", 2), (query, 0, f"{queue}-{number + 1}b", 1)]
            other = dice.choice([page for page in QUEUES if page != queue])
            judgements.append((query, 0, f"{other}-{dice.randrange(1, 6)}a", 0))
    dice.shuffle(pages)
    (HERE / "pages.jsonl").write_text("\n".join(json.dumps(page) for page in pages) + "\n", encoding="utf-8")
    write("queries.tsv", [], queries, "\t")
    write("qrels.txt", [], judgements, " ")


def letor():
    dice = random.Random(11)

    def table(first, count):
        lines = []
        for query in range(first, first + count):
            hard = dice.gauss(0, 0.5)
            for document in range(12):
                taste = dice.gauss(0, 1)
                values = [taste + dice.gauss(0, 0.8), dice.random(), 10 * taste + dice.gauss(0, 12), dice.gauss(0, 1)]
                grade = 2 if taste + hard > 1.6 else 1 if taste + hard > 0.8 else 0
                cells = " ".join(f"{column + 1}:{value:.4f}" for column, value in enumerate(values))
                lines.append(f"{grade} qid:{query} {cells} # d{query}-{document}")
        return "\n".join(lines) + "\n"

    for name, first, count in [("train", 1, 30), ("vali", 101, 15), ("test", 201, 15)]:
        (HERE / f"{name}.letor").write_text(table(first, count), encoding="utf-8")


def embedded():
    """Tickets with a vector of four numbers, as an embedding model might give it: near the queue's own direction."""
    dice = random.Random(14)
    rows = []
    for ticket in tickets(15, 240, 7001):
        own = list(QUEUES).index(ticket[3])
        vector = [round(dice.gauss(1.2 if place == own else 0, 0.8), 3) for place in range(len(QUEUES))]
        rows.append({"id": ticket[0], "text": ticket[1], "queue": ticket[3], "embedding": vector})
    (HERE / "embedded.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")


support_desk()
scores()
embedded()
help_pages()
letor()
