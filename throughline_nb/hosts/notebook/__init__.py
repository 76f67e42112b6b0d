"""The notebook: magics, a Python interface, and what they show.

A kernel is one process with one engine (:mod:`.binding`); what a person types (:mod:`.magics`) and
what code calls (:mod:`.api`) go through it, and :mod:`.outputs` looks at each cell after its run.
Nothing is decided here.
"""
