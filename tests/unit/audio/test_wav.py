"""Test WAV files of all formats, and damaged ones."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.audio.audio_support import correlation, tone

from gemini_live_runtime.audio.wav import WavReader, WavWriter
from gemini_live_runtime.errors import AudioFileError


def encode(samples: np.ndarray, kind: int, bits: int) -> bytes:
    if kind == 3:
        return samples.astype("<f4" if bits == 32 else "<f8").tobytes()
    if bits == 8:
        return (np.rint(samples * 127) + 128).astype(np.uint8).tobytes()
    if bits == 24:
        wide = np.rint(samples.astype(float) * 8_388_607).astype("<i4")
        return wide.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    return np.rint(samples.astype(float) * (2 ** (bits - 1) - 1)).astype(f"<i{bits // 8}").tobytes()


def wav_bytes(
    body: bytes, *, kind: int = 1, channels: int = 1, rate: int = 16_000, bits: int = 16, extensible: bool = False,
    extra: bytes = b"", declared: int | None = None,
) -> bytes:  # fmt: skip
    align = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else kind, channels, rate, rate * align, align, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, kind) + b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x008\x9bq"
    data = struct.pack("<4sI", b"data", len(body) if declared is None else declared) + body
    chunks = b"WAVE" + struct.pack("<4sI", b"fmt ", len(form)) + form + extra + data
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize(("kind", "bits"), [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)])
def test_every_width_and_channel_count_gives_the_same_sound(
    tmp_path: Path, kind: int, bits: int, channels: int, extensible: bool
) -> None:
    sound = tone(16_000, 0.2)
    body = encode(np.repeat(sound, channels), kind, bits)
    reader = WavReader(
        write(tmp_path / "a.wav", wav_bytes(body, kind=kind, bits=bits, channels=channels, extensible=extensible))
    )
    read = reader.read(10_000)
    reader.close()
    assert len(read) == len(sound)
    assert np.abs(read - sound).max() < (0.02 if bits == 8 else 0.001)


def test_channels_are_mixed_down_to_their_mean(tmp_path: Path) -> None:
    body = encode(np.array([0.5, 0.0, 0.5, -0.5]), 3, 32)
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(body, kind=3, bits=32, channels=2)))
    assert reader.read(2).tolist() == [0.25, 0.0]
    reader.close()


def test_a_voice_in_one_of_eight_channels_is_as_loud_as_alone(tmp_path: Path) -> None:
    sound = tone(96_000, 0.1)
    frames = np.zeros((len(sound), 8), np.float32)
    frames[:, 5] = sound
    frames[:, 2] = 0.0005  # the offset of an open input
    body = encode(frames.reshape(-1), 1, 24)
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(body, bits=24, channels=8, rate=96_000, extensible=True)))
    parts = [reader.read(1000) for _ in range(10)]
    reader.close()
    assert np.abs(np.concatenate(parts) - sound).max() < 0.001


def test_channels_in_opposite_phases_do_not_make_silence(tmp_path: Path) -> None:
    sound = tone(16_000, 0.1)
    body = encode(np.stack((0.5 * sound, -0.51 * sound), axis=1).reshape(-1), 3, 32)
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(body, kind=3, bits=32, channels=2)))
    assert np.abs(reader.read(10_000) + 0.51 * sound).max() < 0.001
    reader.close()


def test_large_files_of_recorders_are_read_as_rf64(tmp_path: Path) -> None:
    content = wav_bytes(b"\x01\x00" * 50, extra=b"ds64" + struct.pack("<I", 28) + bytes(28), declared=0xFFFFFFFF)
    reader = WavReader(write(tmp_path / "a.wav", b"RF64" + content[4:]))
    assert len(reader.read(1000)) == 50
    reader.close()


def test_what_a_cut_off_file_lacks_is_known(tmp_path: Path) -> None:
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(b"\x01\x00" * 8_000, declared=32_000)))
    assert reader.missing_s == 0.5
    reader.close()


@pytest.mark.parametrize(("tail", "is_silent"), [(b"\x00", True), (b"\x01", False)])
def test_a_silent_file_is_known_before_it_is_read(tmp_path: Path, tail: bytes, is_silent: bool) -> None:
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(bytes(300_000) + tail + b"\x00")))
    assert reader.is_silent() is is_silent
    assert len(reader.read(200_000)) == 150_001
    reader.close()


def test_other_chunks_are_skipped_odd_lengths_included(tmp_path: Path) -> None:
    extra = b"LIST" + struct.pack("<I", 5) + b"abcde\x00" + b"fact" + struct.pack("<I", 4) + b"1234"
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(b"\x01\x00\x02\x00", extra=extra)))
    assert reader.frames_left == 2
    reader.close()


@pytest.mark.parametrize("declared", [0, 0x7FFFFFFF, 0xFFFFFFFF, 64_000])
def test_a_size_that_is_unknown_or_too_large_means_to_the_end_of_the_file(tmp_path: Path, declared: int) -> None:
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(b"\x01\x00" * 100, declared=declared)))
    assert len(reader.read(1000)) == 100
    assert len(reader.read(1000)) == 0
    reader.close()


def test_floats_that_are_no_numbers_or_too_large_are_made_harmless(tmp_path: Path) -> None:
    body = np.array([np.nan, np.inf, -np.inf, 3.0], "<f4").tobytes()
    reader = WavReader(write(tmp_path / "a.wav", wav_bytes(body, kind=3, bits=32)))
    assert reader.read(4).tolist() == [0.0, 1.0, -1.0, 1.0]
    reader.close()


BAD = {
    "an empty file": (b"", "is an empty file"),
    "text": (b"hello, this is not sound", "is not a WAV file"),
    "no sound chunk": (wav_bytes(b"")[:36], "has no sound chunk"),
    "no samples": (wav_bytes(b""), "holds no sound"),
    "half a sample": (wav_bytes(b"\x01"), "holds no sound"),
    "mu-law": (wav_bytes(b"\x01" * 100, kind=7, bits=8), "is mu-law"),
    "12 bits": (wav_bytes(b"\x01" * 100, bits=12), "has 12 bits"),
    "no channels": (wav_bytes(b"\x01" * 100, channels=0), "has 0 channels"),
    "65 channels": (wav_bytes(b"\x01" * 260, channels=65), "has 65 channels"),
    "rate 0": (wav_bytes(b"\x01" * 100, rate=0), "has 0 samples a second"),
    "rate 2,000,000": (wav_bytes(b"\x01" * 100, rate=2_000_000), "has 2000000 samples a second"),
    "FLAC": (b"fLaC\x00\x00\x00\x22" + bytes(40), "it is a FLAC file"),
    "24 bits in four bytes": (
        wav_bytes(b"\x01" * 96, bits=24).replace(b"\x03\x00\x18\x00", b"\x04\x00\x18\x00"),
        "has 4 bytes",
    ),
    "a short format": (b"RIFF\x00\x00\x00\x00WAVEfmt \x04\x00\x00\x00abcd", "damaged format"),
    "sound before format": (b"RIFF\x00\x00\x00\x00WAVEdata\x04\x00\x00\x00abcd", "sound before its format"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_unusable_file_is_refused_by_name_with_a_remedy(tmp_path: Path, name: str) -> None:
    content, expected = BAD[name]
    path = write(tmp_path / "odd.wav", content)
    with pytest.raises(AudioFileError) as refusal:
        WavReader(path)
    assert expected in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert refusal.value.remedy
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize("name", ["missing.wav", "."])
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AudioFileError, match="cannot be opened"):
        WavReader(tmp_path / name)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_but_never_crashes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(wav_bytes(bytes(range(200)), extra=b"LIST\x04\x00\x00\x00abcd"))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    path = write(tmp_path_factory.getbasetemp() / "fuzz.wav", bytes(content))
    try:
        reader = WavReader(path)
    except AudioFileError:
        return
    total = 0
    while len(piece := reader.read(50)):
        assert np.isfinite(piece).all()
        assert np.abs(piece).max() <= 1.0
        total += len(piece)
    assert reader.frames_left == 0
    assert total > 0
    reader.close()


def test_what_is_written_can_be_read_back(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "out.wav", 24_000)
    sound = (tone(24_000, 0.5) * 32_767).astype(np.int16)
    writer.write(sound[:5000])
    writer.write(sound[5000:])
    writer.close()
    writer.close()
    reader = WavReader(tmp_path / "out.wav")
    assert reader.rate == 24_000
    assert correlation(reader.read(20_000), sound) > 0.9999
    reader.close()


def test_a_file_that_was_never_closed_is_readable_up_to_its_last_header(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "out.wav", 24_000)
    for _ in range(1000):
        writer.write(np.ones(240, np.int16))
    size = struct.unpack("<I", (tmp_path / "out.wav").read_bytes()[40:44])[0]
    assert size >= 240_000
    writer.close()


def test_beyond_four_gigabytes_samples_are_counted_instead_of_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WavWriter, "MAX_BYTES", 1000)
    writer = WavWriter(tmp_path / "out.wav", 24_000)
    writer.write(np.ones(400, np.int16))
    writer.write(np.ones(400, np.int16))
    writer.close()
    assert writer.dropped_samples == 400


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match="cannot be written"):
        WavWriter(tmp_path / "nowhere" / "out.wav", 24_000)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no disk that is always full")
def test_a_file_on_a_full_disk_has_the_remedy_to_free_some_space() -> None:
    with pytest.raises(AudioFileError, match="No space left") as refused:
        WavWriter(Path("/dev/full"), 24_000)
    assert refused.value.remedy == "Free some space on the disk of /dev/full"
