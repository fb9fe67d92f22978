"""Setting up, apart from its screens."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.canaries import KEY, OTHER_KEY
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.audio.devices.selection import SoundDevice, select_device
from gemini_live_runtime.wire.credentials import api_key, credential_environment, find_api_key
from gemini_live_tui import config
from gemini_live_tui.set_up import devices, keys, vertex
from gemini_live_tui.set_up.sound_helper import Report, SoundHelper

DEVICES = st.lists(
    st.builds(
        SoundDevice,
        index=st.just(0),
        name=st.sampled_from(["USB", "USB Headset", "Built-in", "3", " ", "HDMI\x1b[2J"]),
        host_api=st.just("ALSA"),
        input_channels=st.integers(0, 2),
        output_channels=st.integers(0, 2),
        rate=st.sampled_from([44_100, 48_000]),
    ),
    max_size=6,
).map(lambda listed: tuple(_numbered(device, index) for index, device in enumerate(listed)))


def _numbered(device: SoundDevice, index: int) -> SoundDevice:
    return SoundDevice(
        index, device.name, device.host_api, device.input_channels, device.output_channels, device.rate, index == 1
    )


@given(DEVICES, st.sampled_from(["input", "output"]))
def test_what_is_written_of_a_device_means_that_device(
    listed: tuple[SoundDevice, ...], direction: devices.Direction
) -> None:
    usable = [device for device in listed if device.channels(direction)]
    offered = devices.device_options(listed, direction)
    assert len(offered) == (len(usable) + 1 if usable else 0)
    for at, (offer, device) in enumerate(zip(offered[1:], usable, strict=True), 1):
        assert select_device(listed, offer.value, direction) == device
        assert devices.current(listed, offer.value, direction) == at
        assert "\x1b" not in offer.name
    if offered:
        assert offered[0].value == ""
        assert devices.current(listed, "", direction) == 0
        assert devices.current(listed, "no such device", direction) is None


@pytest.mark.parametrize(
    ("shell", "line", "file"),
    [
        ("/usr/bin/fish", "set -gx GEMINI_API_KEY YOUR-KEY", "~/.config/fish/config.fish"),
        ("/bin/zsh", "export GEMINI_API_KEY=YOUR-KEY", "~/.zshrc"),
        ("/bin/bash", "export GEMINI_API_KEY=YOUR-KEY", "~/.bashrc"),
        ("", "export GEMINI_API_KEY=YOUR-KEY", "~/.profile"),
    ],
)
def test_the_line_for_a_profile_suits_the_shell(shell: str, line: str, file: str) -> None:
    assert keys.profile_line({"SHELL": shell}, windows=False) == (line, file)
    assert keys.profile_line({}, windows=True)[0].startswith("setx")


@pytest.mark.parametrize(("before", "winner"), [(OTHER_KEY, "GOOGLE_API_KEY"), ("", "GEMINI_API_KEY")])
def test_a_key_for_now_replaces_the_variable_that_wins(
    before: str, winner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", before)
    keys.for_now(api_key(KEY))
    found = find_api_key(credential_environment()).credential
    assert found is not None
    assert (found.secret, found.source) == (KEY, winner)


def test_a_kept_key_goes_before_one_in_a_variable_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", OTHER_KEY)
    assert "is ignored now" in keys.keep(api_key(KEY), "file")


def test_project_and_location_come_from_the_config_then_from_googles_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert vertex.known(config.Config()) == ("", "us-central1")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "theirs")
    assert vertex.known(config.Config()) == ("theirs", "us-central1")
    assert vertex.known(config.Config(vertex_project="mine", vertex_location="global")) == ("mine", "global")


async def test_a_token_in_the_environment_is_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDSDK_AUTH_ACCESS_TOKEN", "ya29.abcdefghijklmnop")
    login = await vertex.find_login()
    assert login.found
    assert "CLOUDSDK_AUTH_ACCESS_TOKEN" in login.sentence


async def test_without_google_auth_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google", None)
    monkeypatch.setitem(sys.modules, "google.auth", None)
    login = await vertex.find_login()
    assert not login.found
    assert "[vertex]'" in login.sentence


# -- the helper process ----------------------------------------------------------------------------------------------


class Told:
    """Reports of a helper, with a way to wait for them."""

    def __init__(self) -> None:
        self.reports: asyncio.Queue[Report] = asyncio.Queue()

    def __call__(self, report: Report) -> None:
        self.reports.put_nowait(report)

    async def next(self) -> Report:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reports.get()


async def test_the_real_helper_says_in_a_sentence_why_it_cannot_listen_and_ends_when_it_is_let_go() -> None:
    # No test has a sound device: the configuration of ALSA is one that aborts whoever asks.
    told = Told()
    helper = SoundHelper(told)
    await helper.order("levels")
    report = await told.next()
    assert report["report"] == "problem"
    assert report["text"].endswith(".")
    await helper.order("microphone")
    assert (await told.next())["report"] == "problem"
    await helper.close()


async def test_reports_of_an_earlier_order_are_dropped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "fake.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    order = json.loads(line)\n"
        "    for serial in (order['serial'] - 1, order['serial']):\n"
        "        print(json.dumps({'serial': serial, 'report': 'level', 'of': order['order']}), flush=True)\n"
        "    print('not JSON', flush=True)\n"
    )
    from gemini_live_tui.set_up import sound_helper

    async def start() -> asyncio.subprocess.Process:
        pipe = subprocess.PIPE
        return await asyncio.create_subprocess_exec(sys.executable, str(program), stdin=pipe, stdout=pipe)

    monkeypatch.setattr(sound_helper, "_start", start)
    told = Told()
    helper = SoundHelper(told)
    await helper.order("levels")
    assert (await told.next())["serial"] == 1
    await helper.order("echo")
    assert await told.next() == {"serial": 2, "report": "level", "of": "echo"}
    await helper.close()
    assert told.reports.empty()


async def test_no_key_reaches_the_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "CLOUDSDK_AUTH_ACCESS_TOKEN"):
        monkeypatch.setenv(name, KEY)
    started: dict[str, str] = {}

    async def catch(*arguments: str, env: dict[str, str], **options: object) -> None:
        started.update(env)
        raise OSError(2, "no such program")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", catch)
    told = Told()
    await SoundHelper(told).order("levels")
    assert "no such program" in (await told.next())["text"]
    assert KEY not in json.dumps(started)
    assert started["PYTHONPATH"]
