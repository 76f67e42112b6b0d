"""What the panel leaves in a notebook: two outputs, the ledger as a page and the widget's view."""

import re

import pytest
from kernels import Kernel, said

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with Kernel(folder, THROUGHLINE_NOTEBOOK=str(folder / "measure.ipynb")) as made:
        made.run("%load_ext throughline_nb")
        made.run("%tl start Measure memory")
        made.run("import throughline_nb as tl; p = tl.open()")
        made.run("p.record('finding', 'Peak was 6.1 GB.', source='https://example.org/a')")
        yield made


def test_two_outputs_the_page_and_the_view(kernel):
    outputs = kernel.run("%tl panel", "a1")
    assert len(outputs) == 2
    view, page = (output.data for output in outputs)
    assert {"text/plain", "text/markdown", "text/html"} <= page.keys()
    assert "Peak was 6.1 GB." in page["text/html"]
    assert WIDGET not in page
    assert WIDGET in view
    assert view["text/plain"] == "throughLine panel of measure-memory"


def test_the_page_reads_well_where_its_style_is_dropped(kernel):
    (_, page) = kernel.run("p.panel()", "a2")
    html = page.data["text/html"]
    assert "<script" not in html
    bare = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    bare = re.sub(r' (class|style)="[^"]*"', "", bare)
    for said_there in ("<h3>measure-memory</h3>", "<li", "Peak was 6.1 GB.", "A saved view."):
        assert said_there in bare, said_there


def test_the_page_follows_what_the_panel_shows(kernel):
    outputs = kernel.run(
        "import time\nq = p.panel(); display(q); p.goal('Measure twice')\n"
        "end = time.monotonic() + 10\n"
        "while q._saved._version != p.history(1)[0].version and time.monotonic() < end:\n"
        "    time.sleep(0.05)",
        "a3",
    )
    assert "Measure twice" in outputs[1].data["text/html"]


def test_a_cell_run_again_takes_the_former_panel_away(kernel):
    count = "len([t for t in __import__('threading').enumerate() if t.name == 'throughline-panel'])"
    kernel.run("%tl panel", "b1")
    before = said(kernel.run(f"print({count})"))
    for _ in range(3):
        kernel.run("%tl panel", "b1")
    assert said(kernel.run(f"print({count})")) == before


def test_the_panel_is_no_output_that_a_finding_cites(kernel):
    source = "p.panel()\nprint('5.0 GB')"
    kernel.run(f"{source}\np.record('finding', 'The median was 5.0 GB.', source='cell')", "c1")
    kernel.run("p.goal('Measure a third time')")
    kernel.run(f"{source}\np.record('finding', 'The median was 5.0 GB.', source='cell')", "c1")
    assert "stale" not in said(kernel.run("print(p.ledger)"))


def test_without_a_project_the_panel_says_how_to_begin(kernel):
    kernel.run("%tl off")
    outputs = kernel.run("%tl panel", "d1")
    assert "No project is open in this notebook" in outputs[1].data["text/html"]
    kernel.run("%tl open measure-memory")


def test_help_and_completion_know_the_panel(kernel):
    assert "panel [name]" in said(kernel.run("%tl help"))
    assert "%tl panel" in said(kernel.run("%tl help")).replace("/tl panel", "%tl panel")
    listed = kernel.run(
        "from throughline_nb.hosts.notebook.completion import completions\n"
        "print([c.text for c in completions('%tl pan', 0, 7)['completions']])"
    )
    assert "['panel']" in said(listed)
    kernel.run("%tl panel nowhere-at-all", fails=True)
