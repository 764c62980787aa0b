"""The pages of docs/python/reference, made of signatures and of docstrings in numpydoc."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import calibrant
from calibrant import _base, _matrix, _model, _words, plots
from calibrant.plots import _common

#: Pages, in order: title, what is on it, and the names.
PAGES = {
    "estimators": (
        "Estimators",
        "Classifiers of texts and of rows, the vectoriser and the ranker, by scikit-learn's conventions; [by task](../estimators.md).",
        [
            "TextClassifier",
            "LinearSVM",
            "LogisticRegression",
            "NaiveBayes",
            "Rocchio",
            "NearestNeighbours",
            "AdaBoostStumps",
            "Perceptron",
            "OutputCode",
            "TextVectorizer",
            "Ranker",
        ],
    ),
    "calibrators": (
        "Calibrators",
        "Probabilities from scores of any classifier; [by task](../calibrators.md).",
        ["Calibrator", "CalibratedClassifier"],
    ),
    "functions": (
        "Functions",
        "The program's commands as functions over files and tables; [by task](../functions.md).",
        [
            "fit",
            "predict",
            "evaluate",
            "expect",
            "compare",
            "explain",
            "open",
            "inspect",
            "calibrate",
            "combine",
            "recalibrate",
            "split",
            "check_rules",
            "suspects",
            "prevalence",
            "plan_sample",
            "cascade",
            "evaluate_rankings",
            "rank_outlook",
            "names",
            "num_threads",
            "set_num_threads",
        ],
    ),
    "results": (
        "Results",
        "What functions and methods return: models and what else is saved, reports, pages, and [errors](../errors.md).",
        [
            "Model",
            "ScoreCalibrator",
            "RankModel",
            "Policy",
            "SearchIndex",
            "Report",
            "Explanation",
            "Suspects",
            "Page",
            "CalibrantError",
            "FitError",
            "ReadError",
            "SavedFileError",
            "CalibrantWarning",
        ],
    ),
    "plots": ("Plots", "Displays of `calibrant.plots`; [by task](../plots.md).", list(plots.__all__)),
}

#: What classes have in common is described once, under a heading of its own.
FAMILIES = {
    _base.ModelClassifier: ("All classifiers", "estimators"),
    _matrix.MatrixClassifier: ("Classifiers of rows", "estimators"),
    _model.Saved: ("Whatever is saved", "results"),
    _common.Display: ("All displays", "plots"),
}

#: Options that functions hand on, under headings of their own.
OPTIONS = {
    "ReadingOptions": (_words.ReadingOptions, "Options of reading"),
    "FitOptions": (_words.FitOptions, "Options of fitting"),
    "RankOptions": (_words.RankOptions, "Options of learning to rank"),
}

#: Classes that functions and methods make: nobody calls them.
MADE = {"Model", "ScoreCalibrator", "RankModel", "Policy", "SearchIndex", "Report", "Explanation", "Suspects", "Page"}

#: What `names` takes; its own docstring is a sentence.
NAMES = '``"classifier"``, ``"calibrator"``, ``"multiclass"``, ``"score_is"``, ``"weighting"`` or ``"code"``.'

#: What is longer is shown without its keywords; the table has them.
LONGEST = 110


@dataclass
class Entry:
    """What a section of a docstring says of a name, or of several; in `Returns` the name may be a type."""

    head: str
    type: str
    text: str

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.head.split(",")]


@dataclass
class Doc:
    """A docstring in its parts."""

    summary: str = ""
    more: list[str] = field(default_factory=list)
    sections: dict[str, list[str]] = field(default_factory=dict)

    def entries(self, section: str) -> list[Entry]:
        found: list[Entry] = []
        body: list[list[str]] = []
        for line in self.sections.get(section, []):
            if line and not line.startswith(" "):
                head, _, kind = line.partition(" : ")
                found.append(Entry(head.strip(), kind.strip(), ""))
                body.append([])
            elif body:
                body[-1].append(line.strip())
        for entry, lines in zip(found, body, strict=True):
            entry.text = " ".join(lines).strip()
        return found


def read(thing: Any) -> Doc:
    """The docstring of a class, a function or a method."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    heads = [n for n in range(1, len(lines)) if lines[n] and set(lines[n]) == {"-"} and lines[n - 1].strip()]
    before = lines[: heads[0] - 1] if heads else lines
    sections = {}
    for place, head in enumerate(heads):
        end = heads[place + 1] - 1 if place + 1 < len(heads) else len(lines)
        sections[lines[head - 1].strip()] = lines[head + 1 : end]
    paragraphs = [one.replace("\n", " ") for one in re.split(r"\n\s*\n", "\n".join(before).strip())]
    return Doc(paragraphs[0], paragraphs[1:], sections)


def public() -> dict[str, Any]:
    """Every public name with what it is; displays by their names in ``calibrant.plots``."""
    named = {name: getattr(calibrant, name) for name in [*calibrant.__all__, "open"] if name != "__version__"}
    return {**named, **{name: getattr(plots, name) for name in plots.__all__}}


def is_ours(thing: Any) -> bool:
    return (getattr(thing, "__module__", "") or "").split(".")[0] == "calibrant"


def own(cls: type) -> dict[str, Any]:
    """What a class itself defines for the public: functions, class methods and properties."""
    found = {}
    for name, value in vars(cls).items():
        kinds = (FunctionType, classmethod, staticmethod, property)
        # `available_if` of scikit-learn hides a function in a descriptor of its own.
        if not name.startswith("_") and (isinstance(value, kinds) or hasattr(value, "fn")):
            found[name] = getattr(value, "fn", value)
    return found


def members(cls: type) -> dict[str, tuple[type, Any]]:
    """All of them with the class that describes them: the first one that is public, else the most general one."""
    named = set(public().values())
    found: dict[str, tuple[type, Any]] = {}
    for base in reversed([one for one in cls.__mro__ if is_ours(one)]):
        for name, value in own(base).items():
            if base in named or name not in found:
                found[name] = (base, value)
    return found


def plain(value: Any) -> Any:
    return value.__func__ if isinstance(value, (classmethod, staticmethod)) else value


def parameters(thing: Any) -> list[inspect.Parameter]:
    """The parameters that a caller gives."""
    thing = plain(thing)
    try:
        signature = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing)
    except ValueError:
        return []
    return [one for one in signature.parameters.values() if one.name not in ("self", "cls")]


def shown_name(one: inspect.Parameter) -> str:
    return {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "") + one.name


def signature(name: str, given: list[inspect.Parameter]) -> str:
    """The call, with as many of its keywords as fit on a line."""
    texts, starred = [], False
    for one in given:
        if one.kind is one.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        texts.append(shown_name(one) + ("" if one.default is one.empty else f"={one.default!r}"))
    whole = f"{name}({', '.join(texts)})"
    if len(whole) <= LONGEST or not starred:
        return whole
    return f"{name}({', '.join([*texts[: texts.index('*') + 1], '…'])})"


class Writer:
    """Makes the pages, and remembers what nobody has described."""

    def __init__(self) -> None:
        self.public = public()
        self.missing: list[str] = []
        self.page = ""

    # Where things are described.

    def page_of(self, name: str) -> str:
        return next(page for page, (_, _, names) in PAGES.items() if name in names)

    def link(self, page: str, heading: str) -> str:
        kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
        return f"{'' if page == self.page else page + '.md'}#{kept.replace(' ', '-')}"

    def heading(self, owner: type, method: str) -> tuple[str, str]:
        """The page and the heading of a method."""
        if owner in FAMILIES:
            return FAMILIES[owner][1], method
        return self.page_of(owner.__name__), f"{owner.__name__}.{method}"

    def find(self, target: str, within: type | None) -> tuple[Any, str] | None:
        """What a role of a docstring refers to, and the link to it."""
        parts = target.removeprefix("calibrant.").split(".")
        thing = self.public.get(parts[0])
        if thing is None or (len(parts) == 1 and within is not None and parts[0] in members(within)):
            cls, method = within, parts[0]
        elif len(parts) == 1:
            return thing, self.link(self.page_of(parts[0]), parts[0])
        else:
            cls, method = thing, parts[1]
        if cls is None or not inspect.isclass(cls) or method not in members(cls):
            return None
        owner, value = members(cls)[method]
        if isinstance(value, property):
            return None
        return value, self.link(*self.heading(owner, method))

    def text(self, said: str, within: type | None, cell: bool = False) -> str:
        """Prose in Markdown: roles become links."""

        def role(match: re.Match[str]) -> str:
            kind, target = match.groups()
            found = self.find(target, within if kind == "meth" else None)
            code = f"`{target.removeprefix('calibrant.')}`"
            return f"[{code}]({found[1]})" if found else code

        said = re.sub(r":(func|class|meth):`~?([^`]+)`", role, said)
        said = said.replace("``", "`")
        return said.replace("|", "\\|") if cell else said

    # What parameters mean.

    def meaning(self, thing: Any, name: str, within: type | None, depth: int = 0) -> tuple[str, str, type | None] | None:
        """Type and text for a parameter: its own, or those of the function that it is said to be as for."""
        for entry in read(plain(thing)).entries("Parameters"):
            if name not in entry.names:
                continue
            other = re.match(r"As for :(func|class|meth):`([^`]+)`\.$", entry.text)
            found = self.find(other[2], within if other[1] == "meth" else None) if other else None
            if found and depth < 3:
                owner = self.public.get(other[2].removeprefix("calibrant.").split(".")[0], within)
                there = self.meaning(found[0], name, owner if inspect.isclass(owner) else None, depth + 1)
                if there:
                    return there
            return entry.type, entry.text, within
        return None

    def described(self, what: str, thing: Any, within: type | None) -> list[tuple[inspect.Parameter, str, str]]:
        """All parameters with types and texts in Markdown; notes what nobody has described, or what there is not."""
        given = parameters(thing)
        rows = []
        for one in given:
            found = self.meaning(thing, shown_name(one), within)
            if found is None and within is not None:
                # What goes in is as for `fit`; and what has one name means one thing.
                name = what.rpartition(".")[2]
                for cls, method in ((within, "fit"), (_base.ModelClassifier, name)):
                    if found is None and method in members(cls):
                        found = self.meaning(members(cls)[method][1], shown_name(one), cls)
            if found is None and what == "names":
                found = "str", NAMES, None
            if found is None or not (found[1] or found[0]):
                self.missing.append(f"{what}: the parameter `{one.name}` is not described")
                continue
            kind, said, owner = found
            kind = re.sub(r",?\s*(optional|default .*)$", "", kind)
            if not kind and isinstance(one.annotation, str) and "Any" not in one.annotation and "Unpack" not in one.annotation:
                kind = one.annotation.removesuffix(" | None")
            rows.append((one, self.text(kind, owner, cell=True), self.text(said, owner, cell=True)))
        names = {shown_name(one) for one in given}
        for entry in read(plain(thing)).entries("Parameters"):
            self.missing += [f"{what}: there is no parameter `{name}`" for name in entry.names if name not in names]
        return rows

    def table(self, what: str, thing: Any, within: type | None) -> list[str]:
        rows = self.described(what, thing, within)
        if not rows:
            return []
        lines = ["| parameter | type | default | |", "|---|---|---|---|"]
        for one, kind, said in rows:
            default = "" if one.default is one.empty else f"`{one.default!r}`"
            options = re.search(r"Unpack\[(\w+)\]", str(one.annotation))
            if options:
                heading = OPTIONS[options[1]][1]
                said = f"{said} See [{heading.lower()}]({self.link('functions', heading)})."
            lines.append(f"| `{shown_name(one)}` | {kind} | {default} | {said} |")
        return [*lines, ""]

    def returns(self, doc: Doc, within: type | None) -> list[str]:
        entries = doc.entries("Returns")
        if not entries:
            return []
        if len(entries) == 1:
            one = entries[0]
            said = self.text(one.text, within)
            return [f"**Returns** {self.text(one.type or one.head, within)}" + (f": {said}" if said else ""), ""]
        lines = ["**Returns**", ""]
        for one in entries:
            lines.append(f"- `{one.head}` ({self.text(one.type, within)}): {self.text(one.text, within)}")
        return [*lines, ""]

    def examples(self, doc: Doc) -> list[str]:
        lines = doc.sections.get("Examples", [])
        return ["```python", *"\n".join(lines).strip().splitlines(), "", "```", ""] if lines else []

    # What is on a page.

    def prose(self, doc: Doc, within: type | None) -> list[str]:
        found = []
        for paragraph in [doc.summary, *doc.more]:
            if paragraph:
                found += [self.text(paragraph, within), ""]
        return found

    def function(self, what: str, call: str, thing: Any, within: type | None, level: str, heading: str) -> list[str]:
        doc = read(plain(thing))
        if not doc.summary:
            self.missing.append(f"{what}: no docstring")
        lines = [f"{level} {heading}", "", f"`{signature(call, parameters(thing))}`", "", *self.prose(doc, within)]
        lines += self.table(what, thing, within)
        return [*lines, *self.returns(doc, within), *self.examples(doc)]

    def attributes(self, what: str, classes: list[type]) -> list[str]:
        rows: dict[str, tuple[str, str]] = {}
        for cls in classes:
            for entry in read_own(cls).entries("Attributes"):
                for name in entry.names:
                    rows.setdefault(name, (self.text(entry.type, cls, cell=True), self.text(entry.text, cls, cell=True)))
            for name, value in own(cls).items():
                if isinstance(value, property):
                    doc = read(value.fget)
                    if not doc.summary:
                        self.missing.append(f"{what}.{name}: no docstring")
                    kind = str(value.fget.__annotations__.get("return", ""))
                    kind = "" if kind == "Any" else kind.replace("|", "\\|")
                    rows.setdefault(name, (kind, self.text(doc.summary, cls, cell=True)))
        if not rows:
            return []
        lines = ["| attribute | type | |", "|---|---|---|"]
        return [*lines, *(f"| `{name}` | {kind} | {said} |" for name, (kind, said) in rows.items()), ""]

    def methods(self, cls: type) -> list[str]:
        """Links to what is described elsewhere, then what is described here."""
        elsewhere, here = [], []
        for name, (owner, value) in members(cls).items():
            if isinstance(value, property):
                continue
            if owner is not cls:
                owner = next((base for base in owner.__mro__ if base in FAMILIES or base in self.public.values()), owner)
                elsewhere.append(f"[`{name}`]({self.link(*self.heading(owner, name))})")
                continue
            call = f"{cls.__name__}.{name}" if not isinstance(value, FunctionType) else name
            what = f"{cls.__name__}.{name}"
            here += self.function(what, call, value, cls, "###", f"{cls.__name__}.{name}")
        lines = [f"Methods described elsewhere: {', '.join(sorted(elsewhere))}.", ""] if elsewhere else []
        return [*lines, *here]

    def class_(self, name: str, cls: type) -> list[str]:
        doc = read_own(cls)
        if not doc.summary:
            self.missing.append(f"{name}: no docstring")
        prefix = "calibrant.plots." if name in plots.__all__ else "calibrant."
        call = f"{prefix}{name}"
        is_error = issubclass(cls, (Exception, Warning))
        lines = [f"## {name}", ""]
        if name in MADE:
            lines += [f"`{call}`", ""]
        elif is_error:
            lines += [f"`{call}`, a `{cls.__mro__[1].__name__}`.", ""]
        else:
            lines += [f"`{signature(call, parameters(cls))}`", ""]
        lines += self.prose(doc, cls)
        if name not in MADE and not is_error:
            lines += self.table(name, cls, cls)
        described = [one for one in cls.__mro__ if is_ours(one) and (one is cls or one.__name__.startswith("_"))]
        lines += self.attributes(name, described)
        return [*lines, *self.examples(doc), *self.methods(cls)]

    def family(self, cls: type, heading: str) -> list[str]:
        lines = [f"## {heading}", "", *self.prose(read_own(cls), cls), *self.attributes(heading, [cls])]
        for name, value in own(cls).items():
            if not isinstance(value, property):
                lines += self.function(f"{heading}: {name}", name, value, cls, "###", name)
        return lines

    def options(self, of: Any, heading: str) -> list[str]:
        doc = read(of)
        lines = [f"## {heading}", "", *self.prose(doc, None), "| option | type | |", "|---|---|---|"]
        inherited = _words.ReadingOptions.__annotations__ if of is _words.FitOptions else {}
        for name, annotation in of.__annotations__.items():
            if name in inherited:
                continue
            found = self.meaning(of, name, None)
            if found is None or not found[1]:
                self.missing.append(f"{heading}: `{name}` is not described")
                continue
            kind = getattr(annotation, "__forward_arg__", str(annotation)).replace("|", "\\|")
            lines.append(f"| `{name}` | {kind} | {self.text(found[1], found[2], cell=True)} |")
        known = set(of.__annotations__)
        for entry in doc.entries("Parameters"):
            self.missing += [f"{heading}: there is no option `{name}`" for name in entry.names if name not in known]
        return [*lines, ""]

    def write(self, page: str) -> str:
        title, about, names = PAGES[page]
        self.page = page
        lines = [f"# {title}", "", about, "", "[All names](README.md)", ""]
        for cls, (heading, own_page) in FAMILIES.items():
            if own_page == page:
                lines += self.family(cls, heading)
        for name in names:
            thing = self.public[name]
            if inspect.isclass(thing):
                lines += self.class_(name, thing)
            else:
                lines += self.function(name, f"calibrant.{name}", thing, None, "##", name)
        if page == "functions":
            for of, heading in OPTIONS.values():
                lines += self.options(of, heading)
        return "\n".join(lines).rstrip() + "\n"

    def index(self) -> str:
        lines = [
            "# API reference",
            "",
            "Every public name with its parameters, made of the docstrings. [What to use for what](../README.md) is told by task.",
            "",
        ]
        self.page = "README"
        for page, (title, about, names) in PAGES.items():
            lines += [f"## [{title}]({page}.md)", "", about, "", "| name | |", "|---|---|"]
            for name in names:
                summary = read(self.public[name]).summary
                lines.append(f"| [`{name}`]({self.link(page, name)}) | {self.text(summary, None, cell=True)} |")
            lines.append("")
        return "\n".join(lines).rstrip() + "\n"


def read_own(cls: type) -> Doc:
    """The docstring of a class, not that of its base."""
    return read(cls) if cls.__doc__ else Doc()


def pages() -> tuple[dict[str, str], list[str]]:
    """The text of every page, and what is not described."""
    writer = Writer()
    texts = {f"{page}.md": writer.write(page) for page in PAGES}
    return {"README.md": writer.index(), **texts}, writer.missing
