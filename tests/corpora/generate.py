"""Make every fixture: ledgers, edits of them, and chains, saved by every editor."""

import json
import random
from collections.abc import Iterable, Sequence

import msgspec

from tests.corpora import fixtures, tools
from tests.corpora.fixtures import Chain, Made
from tests.corpora.tools import Configuration
from throughline_nb.ledger.writer import write

CHAINS = 30
WILD_CHAINS = 10
CHAIN_LENGTH = 5
SEED = 20261201


def generate() -> dict[str, str]:
    """All fixtures: text by file name below `made/`."""
    written = {
        name: write(fixtures.load_ledger(name), fixtures.VERSION) for name in fixtures.LEDGERS
    }
    medium = written["medium"]
    edited = {edit.kind: edit.apply(medium) for edit in fixtures.load_edits()}
    files = {f"{name}.md": text for name, text in written.items()}
    origins: list[Made] = []
    for configuration in tools.configurations():
        print(configuration.name, flush=True)
        saved = tools.save(configuration, written | edited)
        name = configuration.name
        for ledger, text in written.items():
            files[f"{ledger}/{name}.md"] = saved[ledger]
            origins.append(_made(configuration, f"{ledger}/{name}.md", text))
        files[f"edits/{name}.jsonl"] = _lines(
            fixtures.difference(saved["medium"], kind, text, saved[kind])
            for kind, text in edited.items()
        )
        origins.append(_made(configuration, f"edits/{name}.jsonl", medium))
    chains, ends = _chains(written["hostile"])
    files |= ends
    files["chains.json"] = _json(msgspec.to_builtins(chains))
    files["manifest.json"] = _json(msgspec.to_builtins(origins))
    return files


def _chains(text: str) -> tuple[tuple[Chain, ...], dict[str, str]]:
    chosen = random.Random(SEED)
    everything = tools.configurations()
    named = [configuration for configuration in everything if configuration.named]
    chains: list[Chain] = []
    ends: dict[str, str] = {}
    for number in range(CHAINS + WILD_CHAINS):
        wild = number >= CHAINS
        order = (
            chosen.sample(everything, len(everything)) if wild else chosen.sample(named, len(named))
        )
        chain, end = _chain(number, order, text, wild=wild)
        print(f"chain {number}: {', '.join(chain.editors)}", flush=True)
        chains.append(chain)
        ends[f"chains/{number:02}.md"] = end
    return tuple(chains), ends


def _chain(
    number: int, order: Sequence[Configuration], text: str, *, wild: bool
) -> tuple[Chain, str]:
    """Save ``text`` in the first editors of ``order`` that open what the one before saved."""
    done: list[str] = []
    refused: list[str] = []
    for editor in order:
        if len(done) == CHAIN_LENGTH:
            break
        try:
            text = tools.save(editor, {"ledger": text})["ledger"]
        except RuntimeError:
            refused.append(editor.name)
        else:
            done.append(editor.name)
    return Chain(number, wild, tuple(done), tuple(refused)), text


def _made(configuration: Configuration, file: str, text: str) -> Made:
    pins = tools.versions()
    return Made(
        file=file,
        tool=configuration.tool,
        version=pins[configuration.tool],
        packages={name: pins[name] for name in configuration.packages},
        command=" ".join(configuration.command),
        input=fixtures.digest(text),
    )


def _lines(records: Iterable[msgspec.Struct]) -> str:
    return "".join(msgspec.json.encode(record).decode("utf-8") + "\n" for record in records)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
