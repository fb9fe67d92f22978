"""Reading is tolerant, writing is strict."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.unit.wire.frames import encode_client

from gemini_live_runtime.errors import FrameTooLargeError, ProtocolError
from gemini_live_runtime.wire import codec, compose
from gemini_live_runtime.wire.codec import decode_client, decode_server, encode_server, unknown_fields
from gemini_live_runtime.wire.json_frame import MAX_TEXT_BYTES, MAX_VALUES
from gemini_live_runtime.wire.messages import (
    AudioFrame,
    Blob,
    ClientContent,
    ClientMessage,
    ContextUpdate,
    FunctionCall,
    FunctionDeclaration,
    Modality,
    Part,
    RealtimeInput,
    Schema,
    ServerContent,
    ServerMessage,
    SessionResumptionUpdate,
    Setup,
    ToolCall,
    ToolsUpdate,
)

PCM = bytes(range(250)) * 2


def server(value: Any) -> ServerMessage:
    message = codec.decode_server_message(json.dumps(value))
    assert isinstance(message, ServerMessage)
    return message


def client(value: Any) -> ClientMessage:
    return decode_client(json.dumps(value))


def audio_json(data: str, **beside: Any) -> dict[str, Any]:
    part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
    return {"serverContent": {"modelTurn": {"parts": [part]}, **beside}}


class TestTolerantReading:
    @pytest.mark.parametrize("key", ["turnComplete", "turn_complete"])
    @pytest.mark.parametrize("top", ["serverContent", "server_content"])
    @pytest.mark.parametrize("as_bytes", [True, False])
    def test_both_key_casings_are_read_in_text_and_binary_frames(self, top: str, key: str, as_bytes: bool) -> None:
        text = json.dumps({top: {key: True}})
        message = decode_server(text.encode() if as_bytes else text)
        assert isinstance(message, ServerMessage)
        assert message == ServerMessage(server_content=ServerContent(turn_complete=True))

    def test_several_kinds_in_one_message_are_all_read(self) -> None:
        message = server(
            {
                "serverContent": {"turnComplete": True},
                "usageMetadata": {"totalTokenCount": 5},
                "sessionResumptionUpdate": {"newHandle": "h", "resumable": True},
                "toolCall": {"functionCalls": [{"id": "1", "name": "f"}]},
                "goAway": {"timeLeft": "49.9s"},
            }
        )
        assert message.server_content is not None
        assert message.usage_metadata is not None
        assert message.session_resumption_update is not None
        assert message.tool_call is not None
        assert message.go_away is not None
        assert message.go_away.time_left == "49.9s"

    @pytest.mark.parametrize("spelling", [17, "17", 17.0])
    def test_whole_numbers_may_be_strings_or_floats(self, spelling: object) -> None:
        message = server({"sessionResumptionUpdate": {"lastConsumedClientMessageIndex": spelling}})
        assert message.session_resumption_update == SessionResumptionUpdate(last_consumed_client_message_index=17)
        assert message.problems == ()

    @pytest.mark.parametrize("wrong", ["17.5", "1e3", "", "-", "١٧", 17.5, True, "9" * 30])
    def test_a_value_that_is_no_whole_number_is_reported_and_kept(self, wrong: object) -> None:
        message = server({"usageMetadata": {"totalTokenCount": wrong, "promptTokenCount": 3}})
        assert message.usage_metadata is not None
        assert message.usage_metadata.prompt_token_count == 3
        assert message.usage_metadata.total_token_count is None
        assert message.usage_metadata.extra == {"totalTokenCount": wrong}
        assert message.problems[0].startswith("usageMetadata.totalTokenCount: expected a whole number, got ")

    def test_enums_are_read_in_any_case_and_unknown_values_are_kept(self) -> None:
        message = server(
            {"usageMetadata": {"promptTokensDetails": [{"modality": "audio"}, {"modality": "HOLOGRAM"}, {}]}}
        )
        assert message.usage_metadata is not None
        modalities = [detail.modality for detail in message.usage_metadata.prompt_tokens_details]
        assert modalities == [Modality.AUDIO, "HOLOGRAM", None]
        assert modalities[0] is Modality.AUDIO

    @pytest.mark.parametrize("key", ["type", "voiceActivityType", "voice_activity_type"])
    def test_voice_activity_is_read_under_either_name(self, key: str) -> None:
        message = server({"voiceActivity": {key: "ACTIVITY_START", "audioOffset": "1.200s"}})
        assert message.voice_activity is not None
        assert message.voice_activity.type == "ACTIVITY_START"
        assert message.voice_activity.extra == {}

    def test_null_is_absence(self) -> None:
        message = client({"setup": {"model": "m", "sessionResumption": {"handle": None}, "tools": None}})
        assert message.setup is not None
        assert message.setup.session_resumption is not None
        assert message.setup.session_resumption.handle is None
        assert message.setup.tools == ()
        assert message.problems == ()

    def test_unknown_fields_are_kept_at_every_depth_and_can_be_listed(self) -> None:
        message = client({"setup": {"model": "m", "a": 1, "tools": [{"functionDeclarations": [{"b_c": 2}]}]}, "d": 3})
        assert list(unknown_fields(message)) == ["d", "setup.a", "setup.tools[0].functionDeclarations[0].b_c"]

    def test_the_json_object_stays_at_hand(self) -> None:
        value = {"serverContent": {"turnComplete": True}, "later": [1]}
        assert server(value).raw == value

    def test_users_maps_are_never_renamed_inside(self) -> None:
        inside = {"snake_key": {"camelKey": {"parameters_json_schema": 1}}, "mimeType": None}
        call = server({"toolCall": {"function_calls": [{"id": "1", "name": "f", "args": inside}]}})
        assert call.tool_call == ToolCall(function_calls=(FunctionCall(id="1", name="f", args=inside),))
        schema = {"snake_key": {"type": "STRING"}, "camelKey": {"type": "integer"}}
        declaration = {"name": "f", "parameters": {"properties": schema}, "response_json_schema": inside}
        message = client({"setup": {"labels": {"my_label": "x"}, "tools": [{"function_declarations": [declaration]}]}})
        assert message.setup is not None
        assert message.setup.labels == {"my_label": "x"}
        read = message.setup.tools[0].function_declarations[0]
        assert read.response_json_schema == inside
        assert read.parameters is not None
        assert list(read.parameters.properties) == ["snake_key", "camelKey"]

    def test_a_client_message_with_two_kinds_or_none_says_so(self) -> None:
        assert "got setup, clientContent" in client({"setup": {}, "clientContent": {}}).problems[0]
        assert "got none" in client({}).problems[0]
        assert "got hello" in client({"hello": 1}).problems[0]

    def test_an_error_object_is_quoted_without_keys(self) -> None:
        error = {"code": 403, "message": "revoked: AIzaSyCanaryCanaryCanary", "status": "PERMISSION_DENIED"}
        (problem,) = decode_server(json.dumps({"error": error})).problems
        assert problem.endswith("no known kind of server message, got an error (403: revoked: [redacted])")

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        message = decode_server('{"serverContent":{"outputTranscription":{"text":"a\\ud800b \\ud83d\\ude00"}}}')
        assert isinstance(message, ServerMessage)
        assert message.server_content is not None
        assert message.server_content.output_transcription is not None
        assert message.server_content.output_transcription.text == "a\ufffdb 😀"
        json.dumps(message.raw, ensure_ascii=False).encode()

    def test_at_most_twenty_problems_are_listed_and_the_rest_counted(self) -> None:
        message = server({"toolCallCancellation": {"ids": ["ok", *range(100)]}})
        assert message.tool_call_cancellation is not None
        assert message.tool_call_cancellation.ids == ("ok",)
        assert len(message.problems) == 21
        assert message.problems[-1] == "and 80 more problems"


class TestAudioIsNeverLost:
    @pytest.mark.parametrize(
        "beside",
        [
            {"turnComplete": "x"},
            {"outputTranscription": [1]},
            {"groundingMetadata": {"groundingChunks": [{"web": 4}]}},
            {"inputTranscription": {"words": {"a": 1}}},
            {"interactionStatus": 7},
        ],
    )
    def test_a_wrong_field_beside_audio_is_reported_and_the_audio_read(self, beside: dict[str, Any]) -> None:
        message = decode_server(json.dumps(audio_json(base64.b64encode(PCM).decode(), **beside)))
        assert isinstance(message, ServerMessage)
        assert message.server_content is not None
        assert message.server_content.model_turn is not None
        blob = message.server_content.model_turn.parts[0].inline_data
        assert blob is not None
        assert blob.data == PCM
        assert len(message.problems) == 1
        assert next(iter(beside)) in message.problems[0]

    def test_a_part_that_is_no_object_does_not_take_the_others_with_it(self) -> None:
        value = audio_json("AAA=")
        value["serverContent"]["modelTurn"]["parts"].insert(0, 7)
        message = server(value)
        assert message.server_content is not None
        assert message.server_content.model_turn is not None
        assert len(message.server_content.model_turn.parts) == 1
        assert message.problems == ("serverContent.modelTurn.parts[0]: expected an object, got a number",)

    def test_a_bad_thought_signature_does_not_take_the_text_with_it(self) -> None:
        message = server({"serverContent": {"modelTurn": {"parts": [{"text": "hi", "thoughtSignature": "*"}]}}})
        assert message.server_content is not None
        assert message.server_content.model_turn is not None
        assert message.server_content.model_turn.parts[0].text == "hi"
        assert len(message.problems) == 1

    def test_speech_with_anything_beside_it_is_a_whole_message(self) -> None:
        for value in (
            audio_json("AAA=", turnComplete=False),
            {**audio_json("AAA="), "usageMetadata": {}},
            {**audio_json("AAA="), "future": 1},
        ):
            assert isinstance(decode_server(json.dumps(value)), ServerMessage)
        assert isinstance(decode_server(json.dumps(audio_json("AAA="))), AudioFrame)

    @pytest.mark.parametrize(
        ("mime_type", "rate"),
        [("audio/pcm", 24_000), ("audio/pcm;rate=16000", 16_000), ("Audio/PCM; rate=48000", 48_000)],
    )
    def test_the_rate_comes_from_the_mime_type(self, mime_type: str, rate: int) -> None:
        frame = codec.as_audio_frame(codec.audio_message(b"\0\0", mime_type))
        assert frame == AudioFrame(b"\0\0", rate, mime_type)

    @pytest.mark.parametrize(
        "mime_type", ["audio/pcm;rate=0", "audio/pcm;rate=x", "audio/pcm;rate=99999999", "audio/mp3"]
    )
    def test_other_sound_stays_a_message(self, mime_type: str) -> None:
        assert codec.as_audio_frame(codec.audio_message(b"\0\0", mime_type)) is None


class TestLoadedFrames:
    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({"serverContent": {"modelTurn": {"parts": [{"text": "a"}] * MAX_VALUES}}}, "more than 5,000 values"),
            ({"toolCallCancellation": {"ids": [["a"]] * (MAX_VALUES // 2)}}, "more than 5,000 values"),
            ({f"field{number}": number for number in range(MAX_VALUES + 1)}, "more than 5,000 values"),
            ({"x": [1] * (MAX_VALUES + MAX_TEXT_BYTES + 2)}, "more than 5,000 values"),
            ({"serverContent": {"outputTranscription": {"text": "é" * (MAX_TEXT_BYTES // 2 + 1)}}}, "125,000 bytes"),
            ({"serverContent": {"outputTranscription": {"text": "漢" * (MAX_TEXT_BYTES // 3 + 1)}}}, "125,000 bytes"),
            ({"serverContent": {"outputTranscription": {"text": "x" * MAX_TEXT_BYTES + "é"}}}, "125,000 bytes"),
            ({"x" * (MAX_TEXT_BYTES + 1): 1}, "125,000 bytes"),
            (
                {
                    "toolCall": {
                        "functionCalls": [{"args": {"mimeType": "audio/pcm", "data": "A" * (MAX_TEXT_BYTES + 4)}}]
                    }
                },
                "125,000 bytes",
            ),
        ],
    )
    def test_more_values_or_text_than_can_be_handled_at_once_is_unreadable(
        self, fields: dict[str, Any], says: str
    ) -> None:
        for frame in (json.dumps(fields), json.dumps(fields, ensure_ascii=False).encode()):
            with pytest.raises(ProtocolError, match=says):
                codec.decode_server(frame)

    @pytest.mark.parametrize("encoded", [False, True], ids=["text", "bytes"])
    def test_a_frame_of_far_too_much_text_is_not_even_parsed(
        self, encoded: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(codec, "read_object", None)
        frame = json.dumps({"toolCall": {"functionCalls": [{"args": {"text": "x" * 6 * MAX_TEXT_BYTES}}]}})
        with pytest.raises(ProtocolError, match="125,000 bytes"):
            codec.decode_server(frame.encode() if encoded else frame)

    @pytest.mark.parametrize(
        "values",
        ["{}", '{"a":[]}', '"a"', '"\\\\"', '"\\","', "1"],
        ids=["empty", "nested", "text", "slash", "quote", "number"],
    )
    @pytest.mark.parametrize("encoded", [False, True], ids=["str", "bytes"])
    def test_a_frame_of_far_too_many_values_is_not_even_parsed(
        self, values: str, encoded: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(codec, "read_object", None)
        frame = '{"x":[' + ",".join([values] * 3 * MAX_VALUES) + "]}"
        with pytest.raises(ProtocolError, match="more than 5,000 values"):
            codec.decode_server(frame.encode() if encoded else frame)

    def test_commas_in_texts_are_no_values(self) -> None:
        text = 'a,"b\\",' * (2 * MAX_VALUES)
        message = codec.decode_server(json.dumps({"serverContent": {"outputTranscription": {"text": text}}}))
        assert isinstance(message, ServerMessage)
        assert message.server_content is not None
        assert message.server_content.output_transcription is not None
        assert message.server_content.output_transcription.text == text

    def test_speech_is_not_counted_as_text(self) -> None:
        data = bytes(2 * MAX_TEXT_BYTES)
        message = codec.decode_server(codec.encode_server(codec.audio_message(data, "audio/pcm;rate=24000")))
        assert isinstance(message, AudioFrame)
        assert len(message.data) == len(data)

    def test_at_the_limits_a_message_is_read(self) -> None:
        ids = ["x,"] * (MAX_VALUES - 2)
        message = codec.decode_server(json.dumps({"toolCallCancellation": {"ids": ids}}))
        assert isinstance(message, ServerMessage)
        assert message.tool_call_cancellation is not None
        assert len(message.tool_call_cancellation.ids) == len(ids)


class TestWorthlessFrames:
    @pytest.mark.parametrize(
        ("frame", "says"),
        [
            ("not json", "not JSON"),
            ("", "not JSON"),
            (b"\xff\xfe{}", "not UTF-8"),
            ("[]", "a list, not a JSON object"),
            ("null", "null, not a JSON object"),
            ('{"goAway":{"timeLeft":NaN}}', "NaN"),
            ('{"x":1e999}', "1e999"),
            ('{"x":-Infinity}', "-Infinity"),
            ('{"x":' + "9" * 5000 + "}", "too many digits"),
            ('{"x":' + "[" * 200 + "]" * 200 + "}", "nested deeper than 100"),
            ("[" * 100_000, "nested"),
            ('{"x":' + '{"a":' * 100_000, "nested"),
        ],
    )
    def test_a_frame_that_is_no_json_object_is_refused_by_name(self, frame: str | bytes, says: str) -> None:
        for decode in (decode_server, decode_client):
            with pytest.raises(ProtocolError, match=says):
                decode(frame)

    @pytest.mark.parametrize("data", ["*", "AAA*", "A", "AAAAA", "AA=A", "AA AA", "====", "AAé=", 7, ["AAAA"], {}])
    def test_media_that_is_not_base64_names_its_field(self, data: object) -> None:
        with pytest.raises(ProtocolError, match="expected base64") as caught:
            decode_server(json.dumps(audio_json(data)))  # type: ignore[arg-type]
        assert caught.value.field == "serverContent.modelTurn.parts[0].inlineData.data"

    @pytest.mark.parametrize("mime_type", ["audio/pcm", "audio/pcm;rate=16000", "AUDIO/PCM ; rate=8000"])
    def test_pcm_of_an_odd_length_names_its_field(self, mime_type: str) -> None:
        frame = json.dumps({"realtimeInput": {"audio": {"mimeType": mime_type, "data": "AAAA"}}})
        with pytest.raises(ProtocolError, match="3 bytes of 16-bit PCM, an odd number") as caught:
            decode_client(frame)
        assert caught.value.field == "realtimeInput.audio.data"

    def test_other_media_may_have_any_length(self) -> None:
        message = client({"realtimeInput": {"video": {"mimeType": "image/jpeg", "data": "AAAA"}}})
        assert message.realtime_input is not None
        assert message.realtime_input.video == Blob(mime_type="image/jpeg", data=bytes(3))

    @pytest.mark.parametrize("wrap", [str, str.encode])
    def test_a_frame_above_the_limit_is_too_large(self, wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        from gemini_live_runtime.wire import json_frame

        monkeypatch.setattr(json_frame, "MAX_MESSAGE_BYTES", 100)
        fits = json.dumps({"text": "ä" * 44}, ensure_ascii=False)
        assert len(fits.encode()) == 100
        decode_server(wrap(fits))
        with pytest.raises(FrameTooLargeError):
            decode_server(wrap(fits + " "))

    def test_a_hundred_levels_are_read(self) -> None:
        value: Any = 1
        for _ in range(98):
            value = [value]
        message = server({"toolCall": {"x": value}})
        assert message.tool_call is not None
        assert message.tool_call.extra == {"x": value}


class TestStrictWriting:
    def test_keys_are_camel_case_base64_standard_and_unset_fields_absent(self) -> None:
        message = ClientMessage(
            realtime_input=RealtimeInput(audio=Blob(mime_type="audio/pcm;rate=16000", data=b"\xfb\xff\xbf\x3e"))
        )
        assert encode_client(message) == (
            '{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"+/+/Pg=="}}}'
        )

    def test_false_zero_and_empty_text_are_written_when_set(self) -> None:
        message = ServerMessage(server_content=ServerContent(turn_complete=False, interrupted=None))
        assert encode_server(message) == '{"serverContent":{"turnComplete":false}}'

    def test_an_empty_list_that_clears_the_tools_is_written(self) -> None:
        message = ClientMessage(context_update=ContextUpdate(tools=ToolsUpdate()))
        assert encode_client(message) == '{"contextUpdate":{"tools":{"tools":[]}}}'

    def test_the_index_of_the_last_consumed_message_is_written_as_a_decimal_string(self) -> None:
        update = SessionResumptionUpdate(last_consumed_client_message_index=2**60)
        assert str(2**60) in encode_server(ServerMessage(session_resumption_update=update))
        assert f'"{2**60}"' in encode_server(ServerMessage(session_resumption_update=update))

    def test_enums_given_in_lower_case_are_written_as_the_protocol_has_them(self) -> None:
        declaration = FunctionDeclaration(name="f", parameters=Schema(type="object"), behavior="non_blocking")
        assert codec.to_json(declaration) == {
            "name": "f",
            "parameters": {"type": "OBJECT"},
            "behavior": "NON_BLOCKING",
        }

    def test_a_client_message_must_have_exactly_one_kind(self) -> None:
        for message in (ClientMessage(), ClientMessage(setup=Setup(), client_content=ClientContent())):
            with pytest.raises(ProtocolError, match="exactly one kind"):
                encode_client(message)

    @pytest.mark.parametrize(
        ("response", "field"),
        [
            ({"a": {"b": [1, float("nan")]}}, "toolResponse.functionResponses[0].response.a.b[1]"),
            ({"a": object()}, "toolResponse.functionResponses[0].response.a"),
            ({"a": {"b": {1, 2}}}, "toolResponse.functionResponses[0].response.a.b"),
            ({"a": {(1, 2): 3}}, "toolResponse.functionResponses[0].response.a (key)"),
            ({"a": b"bytes"}, "toolResponse.functionResponses[0].response.a"),
        ],
    )
    def test_a_value_that_json_cannot_hold_is_refused_by_name(self, response: Any, field: str) -> None:
        with pytest.raises(ProtocolError) as caught:
            encode_client(compose.tool_responses(compose.function_response("1", "f", response)))
        assert caught.value.field == field

    def test_a_value_that_holds_itself_is_refused(self) -> None:
        loop: dict[str, Any] = {}
        loop["loop"] = loop
        with pytest.raises(ProtocolError, match="nested deeper"):
            encode_client(compose.tool_responses(compose.function_response("1", "f", loop)))

    @pytest.mark.parametrize(
        ("part", "field"),
        [
            (Part(text=7), "clientContent.turns[0].parts[0].text"),  # type: ignore[arg-type]
            (Part(thought="yes"), "clientContent.turns[0].parts[0].thought"),  # type: ignore[arg-type]
            (Part(inline_data=Blob(data="text")), "clientContent.turns[0].parts[0].inlineData.data"),  # type: ignore[arg-type]
            (Part(inline_data={}), "clientContent.turns[0].parts[0].inlineData"),  # type: ignore[arg-type]
        ],
    )
    def test_a_value_of_the_wrong_type_is_refused_by_name(self, part: Part, field: str) -> None:
        content = compose.text_content("")
        with pytest.raises(ProtocolError) as caught:
            encode_client(compose.client_content(type(content)(parts=(part,))))
        assert caught.value.field == field

    def test_text_with_lone_surrogates_is_written_as_valid_utf8(self) -> None:
        assert "\ufffd" in encode_client(compose.realtime_text("a\udc80b"))

    def test_a_message_above_the_limit_is_not_written(self) -> None:
        with pytest.raises(FrameTooLargeError):
            encode_client(compose.realtime_video(bytes(13 * 1024 * 1024)))
