"""The tutorials run: every notebook of the documentation is executed as it is stored.

`CALIBRANT_DOCS=write` puts what is printed and drawn now into the stored notebooks, and pictures of tagged cells into
docs/python/pictures.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from pathlib import Path

import calibrant
import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
Image = pytest.importorskip("PIL.Image")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "notebooks"
PICTURES = ROOT / "docs" / "python" / "pictures"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 400_000
KERNEL = "calibrant-tests"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel of the interpreter that runs the tests, whatever kernels the user has installed."""
    folder = tmp_path_factory.mktemp("jupyter")
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": KERNEL,
        "language": "python",
        # The same package; and pictures in the notebook, whatever backend the tests themselves draw with.
        "env": {
            "PYTHONPATH": str(Path(calibrant.__file__).resolve().parents[1]),
            "TQDM_DISABLE": "1",
            # Threads of linear algebra that wait for each other on a busy machine take longer than one.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        },
    }
    (folder / "kernels" / KERNEL).mkdir(parents=True)
    (folder / "kernels" / KERNEL / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        yield KERNEL


def sources(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def pictures(cell):
    return [output.data["image/png"] for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def test_there_are_four_tutorials():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_as_it_is_stored(path, kernel):
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    run = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        run,
        timeout=300,
        kernel_name=kernel,
        resources={"metadata": {"path": str(FOLDER)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    assert sources(run) == sources(stored)
    if os.environ.get("CALIBRANT_DOCS") == "write":
        write(path, run)
        stored = run
    drawn = [len(pictures(cell)) for cell in run.cells]
    assert drawn == [len(pictures(cell)) for cell in stored.cells], "pictures are missing: CALIBRANT_DOCS=write"
    assert [cell.get("execution_count") for cell in stored.cells] == [cell.get("execution_count") for cell in run.cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_stored_notebook_is_small_and_shows_no_errors(path):
    assert path.stat().st_size < MOST_BYTES
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert any(pictures(cell) for cell in notebook.cells)


def smaller(picture):
    """The same picture in 64 colours, which lines and areas can do with."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def write(path, run):
    """Stores a notebook that was run: with outputs, without the name of the tests' kernel."""
    run.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    run.metadata.pop("language_info", None)
    for cell in run.cells:
        for output in cell.get("outputs", []):
            output.get("metadata", {}).pop("needs_background", None)
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
        for tag in cell.metadata.get("tags", []):
            if tag.startswith("picture:"):
                PICTURES.mkdir(exist_ok=True)
                name = tag.removeprefix("picture:")
                (PICTURES / f"{name}.png").write_bytes(base64.b64decode(pictures(cell)[-1]))
    path.write_text(nbformat.writes(run), encoding="utf-8")
