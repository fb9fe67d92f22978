from pathlib import Path

import pytest

import gemini_live_runtime.local.scripts.script as script_module
from gemini_live_runtime.agents.concierge import concierge
from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.grammar import build_grammar, spoken_values
from gemini_live_runtime.local.scripts.script import bundled_names, bundled_script, load_script, parse_script
from gemini_live_runtime.local.scripts.script_types import SlotRef
from gemini_live_runtime.local.understanding.matching import Matcher
from gemini_live_runtime.local.understanding.utterance_words import Words

SMALL = """
format = 1
name = "small"
[slots.city]
ask = "Where?"
values = ["Rome"]
[[intent]]
name = "weather"
say = ["weather in {city}"]
call = { tool = "get_weather", args = { city = "{city}" } }
reply = ["It is {result.sky}."]
"""


def test_a_small_script_is_read() -> None:
    script = parse_script(SMALL, "small.toml")
    assert (script.name, [intent.name for intent in script.intents]) == ("small", ["weather"])


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("format = 1", "format = 2", "format"),
        ("format = 1", "", "format"),
        ("format = 1", 'format = 1\ncall_by_name = "no"', "call_by_name"),
        ('name = "small"', 'nme = "small"', "nme"),
        ('name = "small"', 'name = "small"\nlisten_for = ["rain in {town}"]', "listen_for"),
        ("weather in {city}", "weather in {town}", "intent 'weather'.say"),
        ("weather in {city}", "weather in {city", "intent 'weather'.say"),
        ("weather in {city}", "?!", "intent 'weather'.say"),
        ("weather in {city}", "(the|my weather in {city}", "intent 'weather'.say"),
        ("weather in {city}", "(the (fine|)|my) weather in {city}", "intent 'weather'.say"),
        ("weather in {city}", "weather (|now) in {town}", "intent 'weather'.say"),
        ("weather in {city}", "(weather|)", "intent 'weather'.say"),
        ('city = "{city}"', 'city = "{town}"', "intent 'weather'.call.args.city"),
        ('ask = "Where?"', "", "slots.city.ask"),
        ('values = ["Rome"]', "values = [1]", "slots.city.values"),
        ('values = ["Rome"]', 'kind = "colour"', "slots.city.kind"),
        ('values = ["Rome"]', 'kind = "number"\nmin = 5\nmax = 2', "slots.city.min"),
        ('values = ["Rome"]', 'kind = "number"\nmax = 5\nspoken = [9]', "slots.city.spoken"),
        ("It is {result.sky}.", "It is {result sky}.", "intent 'weather'.reply[0]"),
        ('reply = ["It is {result.sky}."]', 'reply = [{ when = "a b", say = "x" }]', "intent 'weather'.reply[0].when"),
        ('reply = ["It is {result.sky}."]', "", "intent 'weather'.reply"),
        ('tool = "get_weather", ', "", "intent 'weather'.call.tool"),
    ],
)
def test_a_wrong_field_is_named_with_its_file_and_a_remedy(old: str, new: str, field: str) -> None:
    assert old in SMALL
    with pytest.raises(ConfigError) as caught:
        parse_script(SMALL.replace(old, new), "my.toml")
    assert (caught.value.field, "my.toml" in str(caught.value), bool(caught.value.remedy)) == (field, True, True)


def test_alternatives_in_parentheses_stand_for_a_sentence_each() -> None:
    script = parse_script(SMALL.replace("weather in {city}", "(the|) weather (in|at {city} or) {city}"), "my.toml")
    city = SlotRef("city")
    assert script.intents[0].say == (
        ("the", "weather", "in", city),
        ("the", "weather", "at", city, "or", city),
        ("weather", "in", city),
        ("weather", "at", city, "or", city),
    )


def test_a_sentence_that_stands_for_too_many_is_refused() -> None:
    with pytest.raises(ConfigError, match="stands for 512 sentences, more than 500"):
        parse_script(SMALL.replace("weather in {city}", "(a|b)" * 9), "my.toml")


PHASED = (
    SMALL
    + """
during = "pay"
[[cue]]
told = ["pay"]
say = "How much?"
[extract.town]
slot = "city"
[extract.angry]
when = ["this is bad"]
value = true
"""
)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('during = "pay"', "during = 3", "intent 'weather'.during"),
        ('during = "pay"', 'during = ["pay", " "]', "intent 'weather'.during"),
        ('during = "pay"', "after = 3", "intent 'weather'.after"),
        ('during = "pay"', 'tells = ["towns"]', "intent 'weather'.tells"),
        ('say = "How much?"', 'say = "How much?"\nend = "{how much}"', "cue 1.end"),
        ("value = true", "value = true\nafter = [1]", "extract.angry.after"),
        ('during = "pay"', 'remember = "yes"', "intent 'weather'.remember"),
        ('say = ["weather in {city}"]\ncall = { tool = "get_weather", args = { city = "{city}" } }',
         'say = ["weather"]\nremember = true', "intent 'weather'.remember"),
        ('during = "pay"', 'calls = [{ tool = "pay" }]', "intent 'weather'.calls"),
        ('call = { tool = "get_weather", args = { city = "{city}" } }', "calls = []", "intent 'weather'.calls"),
        ('call = { tool = "get_weather", args = { city = "{city}" } }', 'calls = [{ tool = "a" }, { args = {} }]',
         "intent 'weather'.calls[1].tool"),
        ('city = "{city}" }', "city = [1] }", "intent 'weather'.call.args.city"),
        ('city = "{city}" }', "city = nan }", "intent 'weather'.call.args.city"),
        ("[[cue]]", "[cue]", "cue"),
        ('told = ["pay"]', "", "cue 1.told"),
        ('told = ["pay"]', "told = []", "cue 1.told"),
        ('say = "How much?"', "", "cue 1.say"),
        ('say = "How much?"', 'say = " "', "cue 1.say"),
        ('say = "How much?"', 'say = "{how much}"', "cue 1.say"),
        ('say = "How much?"', 'say = "How much?"\nwhen = "x"', "cue 1.when"),
        ('slot = "city"', 'slot = "town"', "extract.town.slot"),
        ('slot = "city"', 'slot = "city"\nvalue = 1', "extract.town"),
        ('when = ["this is bad"]', "", "extract.angry.when"),
        ('when = ["this is bad"]', 'intent = "nothing"', "extract.angry.intent"),
        ('when = ["this is bad"]', 'intent = "weather"', "extract.angry.intent"),
        ('when = ["this is bad"]', 'when = ["{bad}"]', "extract.angry.when"),
        ("value = true", "", "extract.angry.value"),
        ("value = true", "value = [true]", "extract.angry.value"),
        ("value = true", "value = inf", "extract.angry.value"),
        ("[extract.angry]", "[[extract.town]]\n[extract.angry]", "script"),
        ("[extract.town]", "[extract]\ntown = 3\n[extract.village]", "extract.town"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_a_phase_is_named_too(old: str, new: str, field: str) -> None:
    parse_script(PHASED, "my.toml")
    assert old in PHASED
    with pytest.raises(ConfigError) as caught:
        parse_script(PHASED.replace(old, new), "my.toml")
    assert (caught.value.field, "my.toml" in str(caught.value), bool(caught.value.remedy)) == (field, True, True)


def test_a_constant_argument_keeps_its_type() -> None:
    script = parse_script(SMALL.replace('city = "{city}" }', 'city = "{city}", days = 3, full = true }'), "my.toml")
    assert script.intents[0].calls[0].args == {"city": "{city}", "days": 3, "full": True}


def test_scripts_lie_beside_the_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, name in (("agents/dialogues", "concierge"), ("agents/dialogues", "clinic"), ("agents", "stray")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"{name}.toml").write_text(SMALL.replace("small", name), "utf-8")
    monkeypatch.setattr(script_module.resources, "files", {"gemini_live_runtime": tmp_path}.__getitem__)
    assert bundled_names() == ("clinic", "concierge")
    assert bundled_script("clinic").name == "clinic"


def test_broken_toml_is_named_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"my\.toml.*line 2"):
        parse_script("format = 1\nname = = 3", "my.toml")


def test_pronunciations_must_be_arpabet() -> None:
    with pytest.raises(ConfigError, match=r"pronunciations\.rome"):
        parse_script(SMALL + '\n[pronunciations]\nrome = "R OW1 M"', "my.toml")


def test_two_intents_of_one_name_are_refused() -> None:
    intent = SMALL[SMALL.index("[[intent]]") :]
    with pytest.raises(ConfigError, match="appears twice"):
        parse_script(SMALL + intent, "my.toml")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * (2 << 20)])
def test_a_file_that_is_no_script_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"bad\.toml"):
        load_script(path)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_script(Path("nowhere.toml"))


def test_an_unknown_bundled_script_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        bundled_script("nobody")


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_script_is_readable(name: str) -> None:
    assert bundled_script(name).name == name


def test_the_concierge_understands_at_least_25_phrases_and_50_cities() -> None:
    script = bundled_script("concierge")
    assert sum(len(intent.say) for intent in script.intents) >= 25
    assert len(script.slots["city"].values) >= 50


def test_a_file_too_large_to_be_a_script_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"#" * (script_module.MAX_SCRIPT_BYTES + 1))
    with pytest.raises(ConfigError, match="above 1 MiB"):
        load_script(path)


def test_the_concierge_understands_what_the_agent_suggests_to_say() -> None:
    script = bundled_script("concierge")
    grammar = build_grammar([p for intent in script.intents for p in intent.say], script.slots, {})
    for phrase in (*script.examples, *concierge().definition.phrases):
        assert grammar.accepts(Words(phrase).plain), phrase


def test_the_concierge_knows_the_names_and_arguments_of_the_agents_tools() -> None:
    declared = {tool.name: tool.parameters["properties"] for tool in concierge().plan().declared}
    for intent in bundled_script("concierge").intents:
        for call in intent.calls:
            assert set(call.args) <= set(declared[call.tool]), intent.name


def test_whatever_the_recogniser_listens_for_the_dialogue_understands() -> None:
    script = bundled_script("concierge")
    matcher = Matcher(script.slots, script.filler)
    for intent in script.intents:
        for pattern in intent.say:
            slots = {part.slot for part in pattern if not isinstance(part, str)}
            for slot in slots:
                for value in spoken_values(script.slots[slot]):
                    words = " ".join(
                        p if isinstance(p, str) else value if p.slot == slot else spoken_values(script.slots[p.slot])[0]
                        for p in pattern
                    )
                    match = matcher.match(pattern, Words(words))
                    assert match is not None, words
                    assert match.cost <= 0.2, words


BEFORE = {"restaurant": "a pasta please", "concierge": "set a timer for ten minutes"}


@pytest.mark.parametrize("name", [name for name in bundled_names() if bundled_script(name).listen_for])
def test_whatever_is_listened_for_besides_is_understood_in_some_phase(name: str) -> None:
    script = bundled_script(name)
    phases = dict.fromkeys(["", *(phase for intent in script.intents for phase in intent.during)])
    for pattern in script.listen_for:
        said = " ".join(p if isinstance(p, str) else spoken_values(script.slots[p.slot])[0] for p in pattern)
        assert any(is_understood(said, name, phase) for phase in phases), said


def is_understood(said: str, name: str, phase: str) -> bool:
    """Return True when a dialogue has more than a fallback for it in a phase."""
    script = bundled_script(name)
    dialogue = ScriptedDialogue(script)
    dialogue.declare({call.tool: {} for intent in script.intents for call in intent.calls})
    dialogue.instruct(phase)
    dialogue.respond(BEFORE.get(name, "hello"), typed=True)
    dialogue.respond(said, typed=True)
    return dialogue.snapshot()["misses"] == 0


CALLING = """
format = 1
name = "lamp"

[[intent]]
name = "switch"
say = ["switch it on"]
call = { tool = "switch" }
reply = ["Done."]
"""


def test_an_intent_that_calls_does_something_unless_it_only_reads() -> None:
    reads = CALLING.replace("call =", "reads = true\ncall =")
    assert [parse_script(text, "lamp.toml").intents[0].acts for text in (CALLING, reads)] == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('call = { tool = "switch" }', "reads = true", "reads"),
        ('call = { tool = "switch" }', "each = true", "each"),
        ("call =", "acts = false\ncall =", "acts"),
        ("call =", "acts = true\nreads = true\ncall =", "acts"),
    ],
)
def test_a_call_that_neither_acts_nor_reads_is_refused(old: str, new: str, field: str) -> None:
    with pytest.raises(ConfigError, match=f"intent 'switch'.{field}"):
        parse_script(CALLING.replace(old, new), "lamp.toml")


def test_a_known_field_has_to_name_a_slot() -> None:
    with pytest.raises(ConfigError, match=r"intent 'switch'\.known"):
        parse_script(CALLING.replace("call =", 'known = { order = "lamp" }\ncall ='), "lamp.toml")


def test_a_further_miss_is_answered_by_one_template_or_several() -> None:
    one, several = (
        parse_script(f"fallback_again = {value}\n{CALLING}", "lamp.toml")
        for value in ('"Again?"', '["Again?", "Once more?"]')
    )
    assert (one.fallback_again, several.fallback_again) == (("Again?",), ("Again?", "Once more?"))
    with pytest.raises(ConfigError, match="fallback_again"):
        parse_script(f"fallback_again = 3\n{CALLING}", "lamp.toml")
