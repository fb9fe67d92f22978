"""Test WAV files as devices, and no devices, on virtual time."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.audio.audio_support import Recorder, correlation, pcm, tone

from gemini_live_runtime.audio.factory import AudioSpec, make_audio
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import AudioIO, AudioOpened
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.audio.wav import WavReader, WavWriter
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import AudioFileError


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def wav(path: Path, rate: int, sound: np.ndarray) -> Path:
    writer = WavWriter(path, rate)
    writer.write((sound * 32_767).astype(np.int16))
    writer.close()
    return path


def read(path: Path) -> np.ndarray:
    reader = WavReader(path)
    sound = reader.read(10_000_000)
    reader.close()
    return sound


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_the_microphone_delivers_the_file_at_sixteen_kilohertz_then_silence(
    tmp_path: Path, rate: int, recorder: Recorder
) -> None:
    path = wav(tmp_path / "mic.wav", rate, tone(rate, 1.0))

    async def main() -> None:
        audio = FileAudio(path, None)
        await audio.open(recorder)
        await asyncio.sleep(0.9)
        assert not audio.finished
        await asyncio.sleep(0.2)
        assert audio.finished
        await asyncio.sleep(0.9)
        await audio.close()

    run_virtual(main())
    sound = recorder.microphone
    assert abs(len(sound) - 32_000) <= 640
    assert correlation(sound[200:15_800], tone(16_000, 1.0)[200:15_800]) > 0.999
    assert not sound[16_400:].any()


def test_chunks_are_twenty_milliseconds_and_know_when_they_were_captured(tmp_path: Path, recorder: Recorder) -> None:
    path = wav(tmp_path / "mic.wav", 16_000, tone(16_000, 0.5))

    async def main() -> float:
        audio = FileAudio(path, None)
        start = asyncio.get_running_loop().time()
        await audio.open(recorder)
        await asyncio.sleep(0.5)
        await audio.close()
        return start

    start = run_virtual(main())
    assert {len(chunk.pcm) for chunk in recorder.chunks} == {640}
    times = [chunk.captured_at - start for chunk in recorder.chunks]
    assert times == pytest.approx([0.02 * (number + 1) for number in range(len(times))])


def test_the_speaker_file_holds_what_was_played_between_silences(tmp_path: Path, recorder: Recorder) -> None:
    sound = tone(24_000, 0.5)

    async def main() -> None:
        audio = FileAudio(None, tmp_path / "out.wav")
        await audio.open(recorder)
        assert audio.finished
        await asyncio.sleep(0.2)
        audio.play(1, pcm(sound * 32_767))
        audio.end_of_turn(1)
        await asyncio.sleep(0.8)
        assert not audio.playing
        await audio.close()

    run_virtual(main())
    out = read(tmp_path / "out.wav")
    start = int(np.flatnonzero(out)[0])
    assert 4_560 <= start <= 5_280
    assert correlation(out[start - 1 : start - 1 + 12_000], sound) > 0.999
    assert len(out) == pytest.approx(24_000, abs=960)
    assert recorder.heard(1) == 12_000
    assert recorder.of("drained") == [("drained", 1)]


def test_a_cut_reports_what_was_written_before_it_returns(tmp_path: Path, recorder: Recorder) -> None:
    async def main() -> int:
        audio = FileAudio(None, tmp_path / "out.wav")
        await audio.open(recorder)
        audio.play(1, pcm(np.full(48_000, 10_000)))
        await asyncio.sleep(0.5)
        audio.cut(2)
        heard = recorder.heard(1)
        audio.play(1, pcm(np.full(48_000, 10_000)))
        await asyncio.sleep(0.5)
        await audio.close()
        return heard

    heard = run_virtual(main())
    out = np.rint(read(tmp_path / "out.wav") * 32_768)
    full = int((out == 10_000).sum())
    assert 0 <= full - heard <= 2  # The first samples of the fade round to full level.
    assert np.flatnonzero(out)[-1] < np.flatnonzero(out)[0] + full + 240


def test_a_muted_speaker_writes_silence_while_the_turn_goes_on(tmp_path: Path, recorder: Recorder) -> None:
    async def main() -> None:
        audio = FileAudio(None, tmp_path / "out.wav")
        await audio.open(recorder)
        audio.set_speaker(False)
        await asyncio.sleep(0.1)
        audio.play(1, pcm(np.full(12_000, 10_000)))
        audio.end_of_turn(1)
        await asyncio.sleep(1)
        await audio.close()

    run_virtual(main())
    assert recorder.heard(1) == 12_000
    assert not read(tmp_path / "out.wav").any()


def test_while_the_microphone_is_off_the_file_waits(tmp_path: Path, recorder: Recorder) -> None:
    path = wav(tmp_path / "mic.wav", 16_000, tone(16_000, 0.4))

    async def main() -> None:
        audio = FileAudio(path, None)
        audio.set_microphone(False)
        await audio.open(recorder)
        await asyncio.sleep(1)
        assert not recorder.chunks
        assert audio.levels().mic_db is None
        audio.set_microphone(True)
        await asyncio.sleep(0.5)
        assert audio.finished
        await audio.close()

    run_virtual(main())
    assert correlation(recorder.microphone[:6_000], tone(16_000, 0.4)[:6_000]) > 0.999


def test_levels_follow_the_sound(tmp_path: Path) -> None:
    path = wav(tmp_path / "mic.wav", 16_000, tone(16_000, 2.0, level=0.1))

    async def main() -> None:
        audio = FileAudio(path, None)
        await audio.open(Recorder())
        await asyncio.sleep(1.5)
        levels = audio.levels()
        assert levels.mic_db == pytest.approx(-23.0, abs=0.3)
        assert levels.mic_peak_db == pytest.approx(-20.0, abs=0.3)
        assert levels.clean_db == pytest.approx(-23.0, abs=0.3)
        assert levels.out_db == -60.0
        assert levels.erle_db is None
        await audio.close()

    run_virtual(main())


def test_closing_twice_and_playing_after_it_do_no_harm(tmp_path: Path) -> None:
    async def main() -> None:
        audio = FileAudio(None, tmp_path / "out.wav")
        await audio.open(Recorder())
        await audio.close()
        await audio.close()
        audio.play(1, b"\x01\x00" * 100)

    run_virtual(main())


def test_a_disk_that_fills_up_loses_the_speaker_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: Recorder
) -> None:
    def full(self: WavWriter, samples: np.ndarray) -> None:
        raise AudioFileError(f"{self.path} cannot be written: No space left on device", remedy="Free some space")

    monkeypatch.setattr(WavWriter, "write", full)

    async def main() -> None:
        audio = FileAudio(None, tmp_path / "out.wav")
        await audio.open(recorder)
        audio.play(1, b"\x01\x00" * 4800)
        audio.end_of_turn(1)
        await asyncio.sleep(0.2)
        await audio.close()

    run_virtual(main())
    assert [call[1] for call in recorder.of("lost")] == ["output"]
    assert "No space left" in recorder.of("lost")[0][2]
    assert recorder.of("drained") == [("drained", 1)]


def test_a_bad_file_is_refused_before_the_session_starts(tmp_path: Path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"nonsense nonsense")
    with pytest.raises(AudioFileError, match=r"bad\.wav is not a WAV file"):
        make_audio(AudioSpec("files", str(tmp_path / "bad.wav")))
    with pytest.raises(AudioFileError, match="its folder does not exist"):
        make_audio(AudioSpec("files", None, str(tmp_path / "no" / "out.wav")))
    with pytest.raises(AudioFileError, match="it is a folder"):
        make_audio(AudioSpec("files", None, str(tmp_path)))


def test_the_microphone_file_is_not_overwritten(tmp_path: Path) -> None:
    path = wav(tmp_path / "mic.wav", 16_000, tone(16_000, 0.1))
    before = path.read_bytes()
    with pytest.raises(AudioFileError, match="would be overwritten"):
        make_audio(AudioSpec("files", str(path), str(path)))
    assert path.read_bytes() == before


def test_without_devices_a_turn_ends_unheard(recorder: Recorder) -> None:
    async def main() -> AudioIO:
        audio = make_audio(AudioSpec("none"))
        assert isinstance(audio, NoAudio)
        opened = await audio.open(recorder)
        assert (opened.input, opened.output, opened.problems) == (None, None, ())
        audio.play(1, b"\x01\x00" * 24_000)
        assert audio.playing
        audio.end_of_turn(1)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        audio.play(2, b"\x01\x00" * 24_000)
        audio.cut(3)
        audio.end_of_turn(2)
        await asyncio.sleep(0.01)
        await audio.close()
        return audio

    audio = run_virtual(main())
    assert recorder.calls == [("drained", 1)]
    assert audio.finished
    assert not audio.playing


def test_without_devices_a_turn_that_was_cut_or_has_drained_is_not_reported_again(recorder: Recorder) -> None:
    async def main() -> None:
        audio = make_audio(AudioSpec("none"))
        await audio.open(recorder)
        audio.end_of_turn(2)
        audio.end_of_turn(2)
        await asyncio.sleep(0.01)
        audio.end_of_turn(2)
        audio.end_of_turn(1)
        audio.end_of_turn(3)
        audio.cut(4)
        audio.play(3, b"\x01\x00")
        assert not audio.playing
        await asyncio.sleep(0.01)
        audio.end_of_turn(4)
        await audio.close()
        await asyncio.sleep(0.01)

    run_virtual(main())
    assert recorder.calls == [("drained", 2)]


@settings(max_examples=20)
@given(st.lists(st.integers(-32_768, 32_767), min_size=1, max_size=3000), st.integers(1, 40))
def test_every_sample_of_the_microphones_file_is_delivered_once_and_then_silence(
    tmp_path_factory: pytest.TempPathFactory, samples: list[int], ticks: int
) -> None:
    sound = np.array(samples, np.int16)
    path = tmp_path_factory.mktemp("mic") / "mic.wav"
    writer = WavWriter(path, 16_000)
    writer.write(sound)
    writer.close()
    recorder = Recorder()

    async def main() -> None:
        audio = FileAudio(path, None)
        await audio.open(recorder)
        await asyncio.sleep(ticks / 100 + 0.001)
        await audio.close()

    run_virtual(main())
    expected = np.concatenate((sound, np.zeros(16_000, np.int16)))
    # The reference of the loudspeaker is one frame behind, and chunks are two frames.
    assert ticks * 160 - 480 <= len(recorder.microphone) <= ticks * 160
    assert np.array_equal(recorder.microphone, expected[: len(recorder.microphone)])


@settings(max_examples=25)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_switching_the_microphone_off_and_on_loses_nothing_of_its_file(
    tmp_path_factory: pytest.TempPathFactory, pauses: list[int]
) -> None:
    sound = (np.arange(4_800) % 30_000 + 1).astype(np.int16)
    path = tmp_path_factory.mktemp("mic") / "mic.wav"
    writer = WavWriter(path, 16_000)
    writer.write(sound)
    writer.close()
    recorder = Recorder()

    async def main() -> None:
        audio = FileAudio(path, None)
        await audio.open(recorder)
        on = True
        for milliseconds in pauses:
            await asyncio.sleep(milliseconds / 1000 + 0.0001)
            on = not on
            audio.set_microphone(on)
        audio.set_microphone(True)
        await asyncio.sleep(0.4)
        assert audio.finished
        await audio.close()

    run_virtual(main())
    assert np.array_equal(recorder.microphone[: len(sound)], sound)


@settings(max_examples=20)
@given(st.data())
def test_every_played_sample_is_written_once_and_reported_as_heard(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    out = tmp_path_factory.mktemp("out") / "out.wav"
    turns = data.draw(st.lists(st.lists(st.integers(100, 3000), min_size=1, max_size=4), min_size=1, max_size=3))
    recorder = Recorder()
    number = 0
    sent: list[np.ndarray] = []

    async def main() -> None:
        nonlocal number
        audio = FileAudio(None, out)
        await audio.open(recorder)
        for gen, pieces in enumerate(turns, 1):
            for count in pieces:
                # Never 0, so that what was played can be told from the silence between.
                piece = (np.arange(number, number + count) % 20_000 + 1).astype(np.int16)
                number += count
                sent.append(piece)
                audio.play(gen, pcm(piece))
                await asyncio.sleep(data.draw(st.sampled_from([0.0, 0.004])))
            audio.end_of_turn(gen)
            await asyncio.sleep(sum(pieces) / 24_000 + 0.5)
        await audio.close()

    run_virtual(main())
    whole = np.concatenate(sent)
    written = np.rint(read(out) * 32_768).astype(int)
    assert [recorder.heard(gen) for gen in range(1, len(turns) + 1)] == [sum(pieces) for pieces in turns]
    assert len(written) % 240 == 0
    # All of it, in order: pieces come faster than they are played, so nothing has to be faded.
    left = iter(written.tolist())
    assert all(sample in left for sample in whole.tolist())


@pytest.mark.parametrize(("channels", "rate"), [(8, 96_000), (2, 44_100), (1, 11_025)])
def test_files_of_any_rate_and_channel_count_keep_their_length_to_the_sample(
    tmp_path: Path, channels: int, rate: int, recorder: Recorder
) -> None:
    path = tmp_path / "mic.wav"
    sound = tone(rate, 1.0)
    content = np.repeat(np.rint(sound * 8_388_607).astype("<i4"), channels)
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 3, channels * 3, 24)
    body = content.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    chunks = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(body)) + body
    path.write_bytes(b"RIFF" + struct.pack("<I", len(chunks)) + chunks)

    async def main() -> None:
        audio = FileAudio(path, None)
        await audio.open(recorder)
        await asyncio.sleep(1.2)
        await audio.close()

    run_virtual(main())
    heard = recorder.microphone
    assert correlation(heard[200:15_800], tone(16_000, 1.0)[200:15_800]) > 0.999
    assert abs(int(np.flatnonzero(np.abs(heard) > 300)[-1]) - 16_000) < 40


def test_a_silent_or_cut_off_file_is_told_with_the_sound_that_is_there(tmp_path: Path) -> None:
    path = wav(tmp_path / "mic.wav", 16_000, np.zeros(16_000))
    path.write_bytes(path.read_bytes()[: 44 + 16_000])

    async def main() -> AudioOpened:
        audio = FileAudio(path, None)
        opened = await audio.open(Recorder())
        await audio.close()
        return opened

    opened = run_virtual(main())
    assert opened.input is not None
    assert [problem.removeprefix(str(path)) for problem in opened.problems] == [
        " holds nothing but silence: the model will hear nothing.",
        " was cut off: 0.5 s of 1.0 s are there.",
    ]
