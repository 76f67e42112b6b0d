"""The panel: the ledger in a notebook, to see, edit and steer, in ipywidgets alone.

:class:`~.shell.Panel` holds one project; :mod:`.watch` follows what others change. A page is built
when it is first opened, an editor when it is asked for, and all rows share their layout and style,
so that a long ledger opens at once. What a button does is an operation of the registry, or an
edit of an entry in place (:mod:`throughline_nb.ledger.amend`), always by the user, one commit.

How a list is kept: the rows before the open editor, the editor, and the rows behind it stand in
three boxes of their own. ipywidgets rebuilds what follows a new child of a box, which would take
the focus and the caret from a field; so no child is ever put in front of an open field.
"""
