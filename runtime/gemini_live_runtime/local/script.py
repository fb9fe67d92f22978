"""A dialogue file: what one can say, which tool that calls, what is answered.

TOML, `format = 1`. Top level: `name`, `title`, `greeting`, `fallback`, `unavailable`, `timeout`, `failed`, `told`,
`prompted` (templates, see template.py), `examples` (phrases to show), `filler` (words that change nothing when typed).
A sentence of `fallback` is left out when its placeholders cannot be filled.

`{examples}` are all examples, `{some_examples}` three of them, `{examples_now}` one or two that are understood at this
moment; none of them calls a tool that the client did not declare. Declared tools that no intent calls stand before the
first two, by the words of their names. `{last_question}` is the question that is still open: the last one asked, until
tools are called or a cue is said. `{known.FIELD}` is the field of the last of all tools' answers that had it.

`[slots.NAME]` has `ask` (the question when it is missing), `answer` (patterns that may answer it) and `kind`:
`choice` (default; `values`), `number` (`min`, `max`, `spoken`: the values a recogniser listens for), `time`, or `text`
(anything of at most `max` words when typed, `values` when spoken).

`[[intent]]` has `name`, `say` (patterns with `{slot}`, spoken or typed), `typed` (typed only), `call` (`tool`, `args`:
values are numbers, true, false, or texts in which `{slot}` stands for the slot's value, `{slot?}` is left out when
missing) or `calls` (a list of such, sent together), `reply` (lines, the first that fits is said: text, or `when` and
`say`), `forget = true` (drops a question that is open), `remember = true` (lines and arguments of later intents may use
its slots too), `during` (a text or a list of texts: understood only while the model has been told one of them), and
`after` (the same: understood only when the model has just said one of them).

What the model has been told is its instruction and the notes since: client content that is not spoken to it (the last
`told.MAX_NOTES`). Upper and lower case and line breaks do not matter. Of intents that fit equally well, one with
`after` wins, then the one whose `during` was told last, one without comes last. What `[extract]` finds among other
words is answered by the intent without a call whose phrase is found there too.

`[[cue]]` has `told` (a text or a list) and `say` (a template): what the model says when it is prompted to speak. What
was told last is looked at first, then the first cue in the file whose `say` can be filled. Without a cue it says the
greeting if the conversation begins, else the open question, else `prompted`. A cue with `end` (a template) ends the
conversation once it was told: only intents without call and `during` are understood then, and all else is answered by
`end`.

After `calls`, `{result.FIELD}` are the fields of all answers together, `{results.TOOL.FIELD}` those of one tool.

`[extract.FIELD]` tells `slot_extractor.py` where a field comes from that no slot is named after: `slot = "NAME"`, or
`when` (patterns, said anywhere in an utterance) and `value` (a text, number, true or false), with `after` only as for
intents. `[[extract.FIELD]]` gives a field several rules; the first that fits the newest utterance counts.

`[pronunciations]` adds ways in which a word may be spoken, in ARPAbet: a text or a list of texts.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.script_reader import ScriptReader
from gemini_live_runtime.local.script_types import Script

MAX_SCRIPT_BYTES = 1 << 20


def _bundled() -> dict[str, Traversable]:
    # A dialogue lies beside the agent it was written for; the agents themselves are not imported here.
    folder = resources.files("gemini_live_runtime").joinpath("agents", "dialogues")
    files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    return {file.name.removesuffix(".toml"): file for file in files}


def bundled_names() -> tuple[str, ...]:
    """Names of the scripts shipped with the package, sorted."""
    return tuple(sorted(_bundled()))


def bundled_script(name: str) -> Script:
    """A shipped script; raises `KeyError` for an unknown name."""
    source = _bundled()[name]
    return parse_script(source.read_text("utf-8"), source.name)


def load_script(path: Path) -> Script:
    """The script in a file; raises `ConfigError` naming file, field and remedy."""
    if path.exists() and not path.is_file():
        # A pipe would be waited on for ever.
        raise ConfigError(f"The dialogue script {path} is not a file", remedy="Check the path", field="script")
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"The dialogue script {path} cannot be read: {error.strerror}", remedy="Check the path", field="script"
        ) from None
    if len(raw) > MAX_SCRIPT_BYTES:
        raise ConfigError(f"The dialogue script {path} is above 1 MiB", remedy="Use a smaller one", field="script")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The dialogue script {path} is not UTF-8 at byte {error.start}", remedy="Save it as UTF-8", field="script"
        ) from None
    return parse_script(text, str(path))


def parse_script(text: str, source: str) -> Script:
    """The script in `text`; `source` names it in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: {error}", remedy="Correct the TOML there", field="script") from None
    return ScriptReader(source).script(data)
