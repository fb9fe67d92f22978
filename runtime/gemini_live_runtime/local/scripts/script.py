"""Load dialogue scripts and document their format.

A script defines what users can say, which tool that calls, and the answers.

TOML, `format = 1`. Top level: `name`, `title`, `greeting`, `fallback`, `unavailable`, `timeout`, `failed`, `told`,
`prompted` (templates, see template.py), `examples` (phrases to show), `filler` (words that change nothing when typed),
`listen_for` (patterns that a recogniser listens for besides those of `say`, and that are read like typed sentences). A
sentence of `greeting` or `fallback` is left out when its placeholders cannot be filled; `fallback_again` (a template,
or a list of them for a third utterance and further ones, in turn) answers a second one in a row that is not understood.
`about` and `abilities` are texts for templates: `{about}` goes on "I'm", `{abilities}` "I can". With `everyday = true`
the intents of everyday.toml are understood as well. With `call_by_name` (true unless it says false) a declared tool
that no intent calls is called by the words of its name, with arguments from the words that are left; a text that it
needs and that was not said is asked for.

`{examples}` are all examples, `{some_examples}` three of them, `{examples_now}` one or two that are understood in this
phase; none of them calls a tool that the client did not declare. The first two begin with the names of declared tools
that no intent calls, if they can be called by name. `{tools}` are the names of all declared tools. `{agent}` and
`{phases}` are the labels of these names in the client's setup; phases are separated by commas. `{last_question}` is the
open question: the last one asked, until tools are called or a cue is said. `{known.FIELD}` is the newest value of a
field in tool results.

`[slots.NAME]` has `ask` (the question when it is missing), `answer` (patterns that may answer it) and `kind`: `choice`
(default; `values`, `synonyms`: a table of phrases for a value; `others = true`: a typed proper name after one of
`before` is a value too), `number` (`min`, `max`, `spoken`: the values a recogniser listens for, `before` and `after`:
words that tell what a number counts, `told = true`: without them it fills the slot as an answer only, `spelled = true`:
digit by digit, too, `max` up to 999,999, `party = true`: people, as in "two adults and a child", are added up),
`duration` (minutes, with its unit, else as a number), `time`, `year` (1982, or 82 after a word of `before`; `values`
when spoken), or `text` (anything of at most `max` words when typed, `values` when spoken).

`[[intent]]` has `name`, `say` (patterns with `{slot}`, spoken or typed; `(my|the)` stands for one of these, `(just|)`
for a word or none), `typed` (typed only), `call` (`tool`, `args`:
values are numbers, true, false, or texts in which `{slot}` stands for the slot's value, `{slot?}` is left out when
missing) or `calls` (a list of such, sent together), `reads = true` (see below), `again = true` (it makes the last call
once more), `from_last_call = true` (slots that are missing are those of the last call, as in "make that three"),
`change = true` (words that only name other slots, such as "and in Rome?", make the call anew), `each = true` (parts
that only name further values, as in "Rome and Oslo", make the call for each of them, and each is answered),
`counted = true` (of what is said in the plural, as in "the salads please", the number is asked for), `reply`
(lines, the first that fits is said: text, or `when` and `say`), `forget = true` (drops a question that is open),
`remember = true` (lines and arguments of later intents may use its slots too), `during` (a text or a list of texts:
matched only while the instruction or a note contains one of them), and `after` (the same: matched only when the model
has just said one of them), and `known` (a table of fields of results and slots, such as `order = "dish"`: matched only
while `{known.order}` has the value of the slot among its words). `tells` (a list of fields of `[extract]`) lets it
answer words that only extraction understands. A sentence whose parts, joined by commas or "and", mean the same intent
makes its calls for each part. Where they mean different intents, each whole in itself, it makes the calls of all.

An intent that calls a tool does something, as does one with `acts = true`. A sentence that only speaks of it, such as
"do you take cards?" or "I might pay by card", does not lead to it (mood.py). One that says more than the intent, its
slots and courtesy have words for, such as "cancel my newspaper", leads to a question (accounting.py): "Do you mean:
cancel my order?" A clear yes then stands for the phrase that it quotes, in `[extract]` too. Meanings with `...` allow
any words. With `reads = true` the calls change nothing: questions lead to them, and everyday words need no explanation.

`means` of an intent are sentences by their words, typed or said, wherever they stand (meaning.py; meaning_reader.py
tells how they are written), with lists of words under `[concepts]`. What remains unsure is not acted on.

`during` and `told` are searched in the instruction and the notes since: client content that is no user turn (the last
`instruction_notes.MAX_NOTES`). Case and line breaks do not matter. Among intents that match equally well, one with
`after` wins, then the one with the newest `during`, then one without. If `[extract]` finds a phrase among other words,
the intent without a call whose phrase is also among them answers.

`[[cue]]` has `told` (a text or a list) and `say` (a template), which the model says when it is prompted to speak. The
newest text that contains `told` counts, then the first cue in the file whose `say` can be filled. Without a cue the
model says the greeting if the conversation begins, else the open question, else `prompted`. A cue with `end` (a
template) ends the conversation: then only intents without call and `during` match, and all else is answered by `end`.

After `calls`, `{result.FIELD}` are the fields of all answers together, `{results.TOOL.FIELD}` those of one tool.

`[extract.FIELD]` defines for `slot_extractor.py` the source of a field that no slot is named after: `slot = "NAME"`
(with `means`, where one of them is meant), or `when` (patterns, anywhere in an utterance), `means` or `intent` (the
name of an intent, for its `means` and its phrases of two words and more without slots) and `value` (a text, number,
true or false); `after` and `acts` restrict it as for intents, and with `now = true` what only tells of the past does
not count. `[[extract.FIELD]]` gives a field several rules; the first that fits the newest utterance counts.

`[facts]` names values within the instruction or its notes by the words around them: with `left = "pay the {} dollars"`
templates and arguments have `{told.left}`. `{heard.FIELD}` is a field of `[extract]` in the utterance that a line
answers.

`[pronunciations]` adds ways in which a word may be spoken, in ARPAbet: a text or a list of texts.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.scripts.script_reader import ScriptReader
from gemini_live_runtime.local.scripts.script_types import Script

MAX_SCRIPT_BYTES = 1 << 20


def _bundled() -> dict[str, Traversable]:
    # Dialogues are next to the agents they were written for, which are not imported here.
    folder = resources.files("gemini_live_runtime").joinpath("agents", "dialogues")
    files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    return {file.name.removesuffix(".toml"): file for file in files}


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled scripts, sorted."""
    return tuple(sorted(_bundled()))


def bundled_script(name: str) -> Script:
    """Return a bundled script, parsed once; raise `KeyError` for an unknown name."""
    source = _bundled()[name]
    return _parse_once(source.read_text("utf-8"), source.name)


def load_script(path: Path) -> Script:
    """Return the script in a file; raise `ConfigError` naming file, field and remedy."""
    if path.exists() and not path.is_file():
        # Opening a pipe would block.
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
    """Return the script in `text`; `source` names it in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: {error}", remedy="Correct the TOML there", field="script") from None
    if data.get("everyday") is True:
        data = _with_everyday(data)
    return ScriptReader(source).script(data)


_parse_once = cache(parse_script)


@cache
def _everyday() -> dict[str, Any]:
    """Return what people say to any agent; not to be changed."""
    return tomllib.loads(resources.files("gemini_live_runtime").joinpath("local", "everyday.toml").read_text("utf-8"))


def _with_everyday(data: dict[str, Any]) -> dict[str, Any]:
    """Add what people say to any agent, where the script does not have it itself."""
    shared = _everyday()
    own, concepts = data.get("intent", []), data.get("concepts", {})
    if not isinstance(own, list) or not isinstance(concepts, dict):
        return data  # The reader tells what is wrong with them.
    names = {intent.get("name") for intent in own if isinstance(intent, dict)}
    added = [intent for intent in shared["intent"] if intent["name"] not in names]
    return {**data, "intent": [*own, *added], "concepts": {**shared["concepts"], **concepts}}
