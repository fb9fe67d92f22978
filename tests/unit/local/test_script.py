from pathlib import Path

import pytest

from gemini_live_runtime.agents.concierge import concierge
from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.local.grammar import build_grammar, spoken_values
from gemini_live_runtime.local.matching import Matcher, Words
from gemini_live_runtime.local.script import bundled_names, bundled_script, load_script, parse_script

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
        ('name = "small"', 'nme = "small"', "nme"),
        ("weather in {city}", "weather in {town}", "intent 'weather'.say"),
        ("weather in {city}", "weather in {city", "intent 'weather'.say"),
        ("weather in {city}", "?!", "intent 'weather'.say"),
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


def test_the_concierge_understands_what_the_agent_suggests_to_say() -> None:
    script = bundled_script("concierge")
    grammar = build_grammar([p for intent in script.intents for p in intent.say], script.slots, {})
    for phrase in (*script.examples, *concierge().phrases):
        assert grammar.accepts(Words(phrase).plain), phrase


def test_the_concierge_knows_the_names_and_arguments_of_the_agents_tools() -> None:
    declared = {tool.name: tool.parameters["properties"] for tool in concierge().tools}
    for intent in bundled_script("concierge").intents:
        if intent.call is not None:
            assert set(intent.call.args) <= set(declared[intent.call.tool]), intent.name


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
