"""Redact a session: private values in all places, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.recordings import Recorder, debt_call
from tests.unit.vocabulary_strategies import sessions

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.export import pieces
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.journal.formats.base import ExportSource, Range
from gemini_live_runtime.journal.privacy import redaction
from gemini_live_runtime.journal.privacy.redaction import Redaction
from gemini_live_runtime.text import sanitise
from gemini_live_runtime.vocabulary import event_from_line


def redacted(events: Iterable[ev.Event]) -> list[ev.Event]:
    events, redaction = list(events), Redaction()
    for event in events:
        redaction.learn(event)
    return [redaction.event(event) for event in events]


def lines(events: Iterable[ev.Event]) -> str:
    return "\n".join(event.to_line() for event in redacted(events))


def only(*payloads: ev.Payload) -> list[ev.Event]:
    return [ev.Event(seq, seq / 10, 1, 1, payload) for seq, payload in enumerate(payloads, 1)]


def said(*texts: str, also: Iterable[ev.Payload] = ()) -> str:
    """Return the user's transcript of deltas `texts` after redaction."""
    deltas = [ev.TranscriptDelta(side="user", text=text) for text in texts]
    events = redacted(only(*also, *deltas))
    return "".join(event.payload.text for event in events if isinstance(event.payload, ev.TranscriptDelta))


@pytest.mark.parametrize(
    "secret",
    [
        "maria.ruiz+x@mail.example.org",
        "maria dot ruiz at example dot org",
        "+49 (170) 555-0134",
        "0170 5550134",
        "4111 1111 1111 1111",
        "4471-8820-1935",
        "447188",
        "DE89 3704 0044 0532 0130 00",
        "1988-03-09",
        "four one one double five",
        "4 4 7 1 8",
        "A I z a S y D 3",
        "q-7-b-r-u-i-z",
        "R, U, I, Z, E, L",
        "٤٤٧١٨٨٢٠",
        "44\u200b71\u202e88",
    ],
)
def test_addresses_and_long_numbers_go_from_every_text(secret: str) -> None:
    assert said(f"It is {secret}, yes.") == "It is [redacted], yes."
    for cut in range(len(secret)):
        assert said(f"It is {secret[:cut]}", f"{secret[cut:]}, yes.") == "It is [redacted], yes.", cut


@pytest.mark.parametrize(
    "text",
    [
        "That is 2140.50 in all, or 12 months of 178.",
        "At 9:30 on the 4th, table 12, for 2 or 3 people.",
        "One or two of them are at the door.",
        "It takes 141 ms.",
        "Plan A or B, the U.S. and I, a 3 a.m. call.",
    ],
)
def test_ordinary_numbers_and_words_stay(text: str) -> None:
    assert said(text) == text


PRIVATE = [
    ("user:mood", "furious"),
    ("app:customer_name", "Maria Ruiz"),
    ("app:phoneNumber", "55 01 34"),
    ("app:Emails", ["maria at home"]),
    ("session:card", 471188),
    ("app:home-address", {"street": "Elm Row 5", "city": "Trent"}),
    ("app:dob", "9 March 1988"),
    ("app:apiKey", "hunter-two"),
    ("app:username", "mruiz"),
    ("app:caller", "Maria"),
]


@pytest.mark.parametrize(("key", "value"), PRIVATE)
def test_private_values_go_from_state_and_from_what_is_said(key: str, value: Any) -> None:
    changed = ev.StateChanged(key=key, old=None, new=value, mutation=1, origin="tool", added=True)
    spoken = " ".join(
        map(str, value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value])
    )
    after = redacted(only(changed))[0].payload
    assert isinstance(after, ev.StateChanged)
    assert after.key == key
    assert "[redacted]" in str(after.new)
    for word in spoken.split():
        assert word not in str(after.new)
    assert "[redacted]" in said(f"Well, {spoken.upper()}!", also=[changed])
    assert said("Nothing of that.", also=[changed]) == "Nothing of that."


@pytest.mark.parametrize(
    "key", ["app:balance", "app:phase", "session:token_count", "app:filename", "app:keyboard", "app:plan"]
)
def test_other_values_stay(key: str) -> None:
    changed = ev.StateChanged(key=key, old=None, new=1234567 if "count" in key else "gold", mutation=1, origin="tool")
    assert redacted(only(changed))[0].payload == changed


def test_arguments_and_results_of_tools_are_gone_through_at_any_depth() -> None:
    args = {"who": {"full_name": "Maria Ruiz", "people": [{"phone": 5550134, "kind": "home"}]}, "maria@x.org": 1}
    result = {"found": [{"note": "Ms. Ruiz called from 555-0134"}], "balance": 2140.5, "ok": True}
    events = only(
        ev.ToolCalled(call_id="c1", name="find", args=args),
        ev.ToolFinished(call_id="c1", name="find", status="ok", result=result, ms=1.0, delivered=True),
    )
    called, finished = (event.payload for event in redacted(events))
    assert isinstance(called, ev.ToolCalled)
    assert isinstance(finished, ev.ToolFinished)
    people = [{"phone": "[redacted]", "kind": "home"}]
    assert called.args == {"who": {"full_name": "[redacted]", "people": people}, "[redacted]": 1}
    assert finished.result == {
        "found": [{"note": "Ms. [redacted] called from [redacted]"}],
        "balance": 2140.5,
        "ok": True,
    }
    assert (called.call_id, called.name) == ("c1", "find")


def test_explanations_previews_and_promotions_show_no_private_value() -> None:
    read = {"key": "user:name", "value": "Zquirrel", "by": "tool"}
    tree = {"text": "user:name == 'Zquirrel'", "value": True, "reads": [read], "children": []}
    leaf = {"text": "user:name", "value": "Zquirrel", "reads": [read]}
    value = {"key": "user:name", "old": "Zquirrel", "new": "Zquirrel"}
    text = lines(
        only(
            ev.WatcherFired(
                watcher="w", key="user:name", old=None, new="Zquirrel", explanation={**tree, "children": [leaf]}
            ),
            ev.WatchersMissed(misses=({"watcher": "w", **value, "missing": "is Zquirrel"},)),
            ev.PromotionDecided(
                extractor="e", field="name", key="app:x", value="Zquirrel", accepted=False, reason="not Zquirrel"
            ),
            ev.EditsApplied(command_id="c", how="edit", values=(value,), undo=1, redo=0),
            ev.GuardsRead(phase="p", ways=({"to": "q", "outcome": "ready", "guard": tree},)),
            ev.ExtractionFinished(
                extractor="e",
                trigger="turn",
                of_turn=1,
                value={"name": "Zquirrel"},
                refused={"name": "Zquirrel is short"},
                ms=1.0,
            ),
        )
    )
    assert "quirrel" not in text
    assert '"to":"q"' in text
    assert '"outcome":"ready"' in text


def test_what_a_guard_read_is_private_though_nothing_else_told_of_it() -> None:
    read = {"key": "user:pet", "value": "Zquirrel", "by": "tool"}
    leaf = {"text": "user:pet", "value": "Zquirrel", "reads": [read], "children": []}
    ways = ({"to": "q", "outcome": "ready", "guard": leaf},)
    text = lines(only(ev.GuardsRead(phase="p", ways=ways), ev.TextSent(text="My Zquirrel is ill")))
    assert "quirrel" not in text
    age = {"text": "user:age", "value": 7, "reads": [{"key": "user:age", "value": 7}]}
    assert '"value":7' not in lines(only(ev.GuardsRead(phase="p", ways=({"to": "q", "guard": age},))))
    leaf = {**leaf, "reads": [{"key": "app:open", "value": "gold"}], "value": "gold"}
    assert "gold" in lines(only(ev.GuardsRead(phase="p", ways=({"to": "q", "outcome": "ready", "guard": leaf},))))


def test_a_state_key_in_somebodys_data_is_the_name_of_something() -> None:
    (event,) = redacted(only(ev.ToolCalled(call_id="c", name="watch", args={"key": "app:balance", "token": "abc"})))
    assert isinstance(event.payload, ev.ToolCalled)
    assert event.payload.args == {"key": "app:balance", "token": "[redacted]"}


def test_the_wire_is_left_out_whole() -> None:
    frame = {"serverContent": {"inputTranscription": {"text": "Zquir"}}}
    (event,) = redacted(only(ev.WireMessage(direction="received", kinds=("serverContent",), frame=frame, size=9)))
    assert isinstance(event.payload, ev.WireMessage)
    assert (event.payload.frame, event.payload.kinds, event.payload.size) == ("[redacted]", ("serverContent",), 9)


def test_what_was_heard_of_a_cut_answer_still_fits_it() -> None:
    made = Recorder()
    made.start()
    made.begin_turn()
    made.model("Your mail is maria@exa", "mple.org and your card ", "is ready.")
    made.interrupt("Your mail is maria@exa", "mple.org and your card is ready.")
    made.model(" Goodbye.")
    view = fold(redacted(made.events))
    (block,) = [block for block in view.blocks if block.kind == "model"]
    assert block.text == "Your mail is [redacted] and your card is ready. Goodbye."
    assert block.heard is not None
    assert block.text[: block.heard] == "Your mail is [redacted]"


def test_a_number_that_was_cut_in_its_middle_goes_from_both_sides() -> None:
    made = Recorder()
    made.start()
    made.begin_turn()
    made.model("It is 4471 ", "8820 1935, ", "I think.")
    made.interrupt("It is 4471 ", "8820 1935, I think.")
    events = redacted(made.events)
    (cut,) = [event.payload for event in events if isinstance(event.payload, ev.TurnInterrupted)]
    assert (cut.heard_text, cut.unheard_text) == ("It is [redacted]", ", I think.")
    (block,) = [block for block in fold(events).blocks if block.kind == "model"]
    assert (block.text, block.heard) == ("It is [redacted], I think.", len("It is [redacted]"))


def test_a_part_of_a_long_number_in_a_result_goes_too() -> None:
    answer = {"result": {"reference": 55501344}, "ms": 1.0, "delivered": True}
    told = ev.ToolFinished(call_id="c", name="find", status="ok", **answer)
    assert said("It ends in 1344.", also=[told]) == "It ends in [redacted]."


def test_a_part_of_a_known_number_goes_too() -> None:
    changed = ev.StateChanged(key="app:card", old=None, new="4111222233334444", mutation=1, origin="tool")
    assert said("It ends in 4444, and 5555 is not it.", also=[changed]) == "It ends in [redacted], and 5555 is not it."


def test_names_in_scripts_without_spaces_are_found() -> None:
    changed = ev.StateChanged(key="user:name", old=None, new="张伟明", mutation=1, origin="tool")
    assert said("我叫张伟明。", also=[changed]) == "我叫[redacted]。"


@pytest.mark.parametrize("heard", ["José Müller", "Jose\u0301 Mu\u0308ller", "jose muller", "JOSÉ, Müller", "Müller"])
def test_a_name_is_found_with_and_without_its_accents(heard: str) -> None:
    changed = ev.StateChanged(key="app:full_name", old=None, new="José Müller", mutation=1, origin="tool")
    assert said(f"I am {heard}.", also=[changed]) == "I am [redacted]."


def test_endless_words_take_no_time() -> None:
    for text in ("a" * 50_000, "a." * 25_000, "1 " * 25_000, "a dot " * 9000, "@" * 50_000, "AB12" * 12_000):
        said(text)


def test_an_endless_value_that_repeats_itself_is_found_without_a_look_at_each_character() -> None:
    changed = ev.StateChanged(key="user:note", old=None, new="啊" * 512_000, mutation=1, origin="tool")
    # A search from every character on compares half a million characters as often, which takes hours.
    assert said("b" + "啊" * 1_024_000 + "b", also=[changed]) == "b[redacted]b"


def test_only_texts_with_the_sign_of_an_address_are_searched_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_LOCAL_PART_BACKWARDS", searched := Mock(wraps=redaction._LOCAL_PART_BACKWARDS))
    monkeypatch.setattr(redaction, "_SPOKEN_ADDRESS", searched)
    said("a" * 200, "maria at example", "dots")
    assert not searched.mock_calls
    assert said("a" * 200 + "@b.c") == "a" * 100 + "[redacted]"


def test_a_redacted_session_folds_like_the_one_that_it_was() -> None:
    before, after = fold(debt_call().events), fold(redacted(debt_call().events))
    assert [(block.kind, block.turn, block.status, block.done) for block in before.blocks] == [
        (block.kind, block.turn, block.status, block.done) for block in after.blocks
    ]
    assert (before.phase, before.cost_usd, before.turns_completed) == (
        after.phase,
        after.cost_usd,
        after.turns_completed,
    )


@given(sessions())
@settings(deadline=None, max_examples=150)
def test_whatever_happened_the_redacted_events_are_events_again(events: list[ev.Event]) -> None:
    for before, after in zip(events, redacted(events), strict=True):
        assert (before.seq, before.t, before.turn, before.gen, before.type) == (
            after.seq,
            after.t,
            after.turn,
            after.gen,
            after.type,
        )
        if not isinstance(after.payload, ev.Unknown):
            assert type(event_from_line(after.to_line()).payload) is type(before.payload)
    fold(redacted(events))


# -- nothing of a generated set is left, in any format ---------------------------------------------------------------

_word = st.text("abcdefghijklmnopqrstuvwyz", min_size=3, max_size=9).map(lambda text: f"zq{text}")
_email = st.builds(lambda name, host: f"{name}@{host}.example", _word, _word)
_phone = st.text("0123456789", min_size=8, max_size=14)
_spaced = _phone.map(lambda digits: " ".join(digits[at : at + 4] for at in range(0, len(digits), 4)))
_named = st.sampled_from(["name", "phone", "email", "card_number", "account", "dob", "address", "token", "api_key"])
_secret = st.one_of(
    st.tuples(st.just(""), st.one_of(_email, _phone, _spaced)),
    st.tuples(
        _named, st.one_of(_word, st.builds(lambda a, b: f"{a} {b}", _word, _word), st.integers(10**7, 10**14), _phone)
    ),
)
_where = st.lists(
    st.sampled_from(["user", "model", "typed", "args", "result", "state", "notice", "log", "context"]), min_size=1
)


def _place(made: Recorder, place: str, name: str, secret: Any, cut: float) -> None:
    text = f"Well, {secret} it is."
    at = int(len(text) * cut)
    if place in ("user", "model"):
        (made.user if place == "user" else made.model)(text[:at], text[at:])
    elif place == "typed":
        made.emit(ev.TextSent(text=text))
    elif place in ("args", "result"):
        data = {"outer": [{name or "note": secret if name else text}], "text": text}
        made.tool("look_up", data if place == "args" else {}, data if place == "result" else {})
    elif place == "state":
        made.state(f"app:{name}" if name else "user:note", secret)
    elif place == "notice":
        made.emit(ev.Notice(level="info", code="x", text=text, remedy=text))
    elif place == "log":
        made.emit(ev.Log(source="stdout", level="info", text=text))
    else:
        made.emit(ev.ContextSent(texts=(text,)), ev.InstructionUpdated(text=text, via="setup"))


@given(st.data(), st.lists(st.tuples(_secret, _where), min_size=1, max_size=4))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_secret_of_a_generated_set_is_left_in_any_format(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, secrets: list[tuple[tuple[str, Any], list[str]]]
) -> None:
    made = Recorder()
    made.start()
    for (name, secret), places in secrets:
        made.begin_turn()
        if name:
            made.state(f"session:{name}", secret)
        for place in places:
            _place(made, place, name, secret, data.draw(st.floats(0, 1)))
        made.complete()
    folder = made.write(tmp_path_factory.mktemp("root"))
    for text in _exports(folder):
        plain = sanitise(text).casefold()
        for (_, secret), _ in secrets:
            for form in {str(secret), "".join(str(secret).split())}:
                assert form.casefold() not in plain, form


def _exports(folder: Path) -> Iterator[str]:
    for fmt in ("markdown", "text", "json"):
        material = ExportSource(folder, redact=True, wanted=Range())
        yield b"".join(pieces(material, fmt)).decode().replace("\\", "")
