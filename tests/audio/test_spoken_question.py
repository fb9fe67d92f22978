"""Test a spoken question in a WAV file and its answer in another, in real time."""

from __future__ import annotations

import shutil
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_a_wav_with_a_question_gives_a_wav_with_the_answer_and_both_transcripts(tmp_path: Path) -> None:
    if shutil.which("flite") is None:
        pytest.skip("flite is not installed")
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", "what is the weather in Lisbon", "-o", str(question)], check=True)
    command = [sys.executable, "-m", "gemini_live_tui", "talk", "--backend", "local"]
    done = subprocess.run(
        [*command, "--mic", str(question), "--speaker", str(answer), "--until-idle", "--timeout", "60", "--plain"],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'tui'}:{ROOT / 'runtime'}", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "user: what is the weather in lisbon" in [line.lower() for line in lines]
    said = next(line for line in lines if line.startswith("model:"))
    assert "Lisbon" in said
    with wave.open(str(answer)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
    loud_s = np.count_nonzero(np.abs(samples) > 300) / 24_000
    # Speech of that many words: well above one second of sound, well below the whole file.
    assert 1.0 < loud_s < len(samples) / 24_000
