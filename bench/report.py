"""Rows of figures, as Markdown and as JSON. A ratio above 1 speaks for calibrant."""

# The larger the better; everything else is a cost or a loss.
GAINS = {"accuracy", "micro-F1", "macro-F1"}


class Report:
    """Sections of rows: what was measured, ours, theirs, the ratio."""

    def __init__(self, facts, rounds):
        self.facts, self.rounds, self.sections = facts, rounds, []

    def section(self, title):
        self.sections.append({"title": title, "rows": [], "notes": []})

    def note(self, text):
        self.sections[-1]["notes"].append(text)

    def row(self, what, our_name, ours, their_name, theirs, ratio):
        row = {"what": what, "ours": ours, "theirs": theirs, "ratio": ratio}
        self.sections[-1]["rows"].append({**row, "our_name": our_name, "their_name": their_name})

    def cost(self, what, ours, theirs, our_name="calibrant", their_name="scikit-learn"):
        """The smaller the better."""
        self.row(what, our_name, float(ours), their_name, float(theirs), float(theirs / ours))

    def speed(self, what, ours, their_name, theirs):
        """The larger the better."""
        self.row(what, "calibrant", float(ours), their_name, float(theirs), float(ours / theirs))

    def costs(self, our_name, ours, their_name, theirs):
        """What two programs used."""
        for what, name, unit in [("wall", "wall s", 1), ("cpu", "CPU s", 1), ("memory", "peak memory, MB", 1e6)]:
            self.cost(name, ours[what] / unit, theirs[what] / unit, our_name, their_name)

    def quality(self, our_name, ours, their_name, theirs):
        """Measures of two sets of probabilities."""
        for name in [name for name in ours if name != "classes"]:
            if name in GAINS:
                ratio = float(ours[name] / theirs[name])
                self.row(name, our_name, float(ours[name]), their_name, float(theirs[name]), ratio)
            else:
                self.cost(name, ours[name], theirs[name], our_name, their_name)

    def alone(self, our_name, measures):
        """Figures that nobody stands beside."""
        for name, value in measures.items():
            self.row(name, our_name, float(value), None, None, None)

    def values(self):
        return {"facts": self.facts, "rounds": self.rounds, "sections": self.sections}

    def markdown(self):
        lines = ["# calibrant side by side", ""]
        lines += [", ".join(f"{name} {value}" for name, value in self.facts.items()) + ".", ""]
        lines += [f"Medians of {self.rounds} runs in turn. A ratio above 1 speaks for calibrant."]
        for section in self.sections:
            lines += ["", f"## {section['title']}", ""]
            lines += ["| | ours | theirs | ratio | compared |", "|---|---:|---:|---:|---|"]
            for row in section["rows"]:
                names = " / ".join(name for name in [row["our_name"], row["their_name"]] if name)
                cells = [row["what"], figure(row["ours"]), figure(row["theirs"]), figure(row["ratio"]), names]
                lines.append("| " + " | ".join(cells) + " |")
            for note in section["notes"]:
                lines += ["", note]
        return "\n".join(lines)


def figure(value):
    """Enough digits to compare, however large or small the number."""
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:.2f}"
    return f"{value:.4f}" if abs(value) >= 0.1 else f"{value:.3g}"
