"""The panel in the tests: clicked from Python, as a person clicks it."""

import ipywidgets as w

from throughline_nb.hosts.notebook.panel.shell import Panel


class Clicks:
    """A panel and what can be done with it by name.

    Args:
        project: What ``tl.open`` gave; None for the project of the notebook.
    """

    def __init__(self, project=None):
        self.panel = Panel(project)

    def all(self, kind=w.Widget):
        """Every widget of a kind that is shown."""
        return [each for each in walk(self.panel.widget) if isinstance(each, kind)]

    def names(self, kind=w.Button):
        """What is written on them."""
        return [each.description for each in self.all(kind)]

    def button(self, name):
        found = [each for each in self.all(w.Button) if each.description == name]
        assert len(found) == 1, (name, self.names())
        return found[0]

    def click(self, *names):
        for name in names:
            button = self.button(name)
            assert not button.disabled, name
            button.click()

    def field(self, name):
        kinds = (w.Text, w.Textarea, w.Combobox, w.Select, w.ToggleButtons, w.Checkbox)
        found = [each for each in self.all(kinds) if each.description == name]
        assert len(found) == 1, (name, self.names(kinds))
        return found[0]

    def fill(self, **fields):
        for name, value in fields.items():
            self.field(name.replace("_", " ")).value = value

    @property
    def text(self):
        """All HTML that is shown."""
        return "\n".join(each.value for each in self.all(w.HTML) if "<style>" not in each.value)

    @property
    def said(self):
        """What was told last."""
        return self.panel._news.value

    def close(self):
        self.panel.close()


def walk(widget):
    """A widget and all that it shows."""
    if "tl-hidden" in widget._dom_classes:
        return
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)
