"""Choose microphone and speaker, with the highlighted microphone's live level."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.set_up import devices
from gemini_live_tui.set_up.saving import save
from gemini_live_tui.set_up.sound_helper import Report
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.level_row import LevelRow
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event
    from gemini_live_tui.context import ConsoleContext

NOUNS = {"input": "Microphone", "output": "Speaker"}


class DevicesScreen(BoxScreen):
    """Two lists. Enter chooses and saves a device."""

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "devices.tcss"]
    HEADING: ClassVar[str] = "Microphone and speaker"
    HINT: ClassVar[str] = (
        "enter chooses, tab switches, {devices-headphones} headphones, {devices-rescan} rescans, esc closes"
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("devices")]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        self._lists = {side: OptionList(id=f"devices-{side}") for side in NOUNS}
        self._choices: dict[str, list[devices.DeviceOption]] = {"input": [], "output": []}
        self._chosen: dict[str, str] = {}
        self._found: devices.DeviceListing | None = None
        self._listening = ""
        self._ordered: tuple[str, str, devices.DeviceOption] | None = None
        self._headphones = console.settings.headphones()
        self._headphones_order = ""
        """Id of the command that turns them on or off, until it is carried out."""
        self._speaker_title = Static(self._speaker(), classes="side", markup=False)
        self.level = LevelRow("level", id="devices-level", glyphs=self.signs)
        self._helper = console.sound_helper(self._reported)

    def contents(self) -> Iterator[Widget]:
        """Yield both lists, side by side where they fit."""
        yield Container(
            Vertical(
                Static(NOUNS["input"], classes="side", markup=False), self._lists["input"], self.level, id="input-side"
            ),
            Vertical(self._speaker_title, self._lists["output"], id="output-side"),
            id="devices-sides",
        )

    def on_mount(self) -> None:
        """Look for devices."""
        if not self.console.waiting:
            from gemini_live_runtime.events import AudioLost, AudioOpened

            self.console.store.listen(AudioOpened, self._sound_opened)
            self.console.store.listen(AudioLost, self._sound_lost)
        self._lists["input"].focus()
        self.action_rescan()

    def action_rescan(self) -> None:
        """Look again."""
        self._look_again("")

    def _look_again(self, news: str) -> None:
        """Look for devices; `news` is what made it necessary."""
        self.level.rest("")
        self.say(f"{news} Looking for devices{self.signs.ellipsis}".lstrip())
        self._look(news)

    @work(group="devices", exclusive=True)
    async def _look(self, news: str) -> None:
        await self._helper.order("stop")
        self._listening = ""
        found = await devices.find_devices()
        self._found = found
        for side, wanted in zip(NOUNS, self.console.settings.devices(), strict=True):
            self._fill(side, wanted)
        if found.problem:
            self.say(f"{news} {found.problem} Press r to look again.".lstrip(), "warning")
        else:
            self.say(news)
        self._listen()

    def _fill(self, side: str, wanted: str) -> None:
        assert self._found is not None
        direction: devices.Direction = "input" if side == "input" else "output"
        choices = self._choices[side] = devices.device_options(self._found.devices, direction)
        options = self._lists[side]
        at = devices.current(self._found.devices, wanted, direction) if choices else None
        self._chosen[side] = choices[at].value if at is not None else wanted
        options.clear_options()
        if not choices:
            options.add_option(Option(f"no {NOUNS[side].lower()} was found", disabled=True))
            return
        options.add_options(self._options(side))
        options.highlighted = at or 0

    def _options(self, side: str) -> Iterator[Option]:
        room = 46 if self.has_class("-wide") else 66
        details = [f"{choice.detail}  default" if choice.default else choice.detail for choice in self._choices[side]]
        names = max((cell_len(choice.name) for choice in self._choices[side]), default=0)
        width = max(12, min(names, room - max(map(cell_len, details), default=0) - 4))
        for choice, detail in zip(self._choices[side], details, strict=True):
            mark = self.signs.dot if choice.value == self._chosen[side] else " "
            name = fit(choice.name, width, self.signs.ellipsis)
            gap = " " * (width - cell_len(name) + 2)
            yield Option(
                Content.assemble(f"{mark} ", (name, "bold"), gap, fit(detail, room - width, self.signs.ellipsis))
            )

    # -- levels ------------------------------------------------------------------------------------------------------

    @on(OptionList.OptionHighlighted)
    def _pointed_at(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list is self._lists["input"]:
            self._listen()

    def _listen(self) -> None:
        """Measure the microphone under the cursor."""
        at = self._lists["input"].highlighted
        choices = self._choices["input"]
        if at is None or at >= len(choices):
            self.level.rest("nothing to measure")
        elif choices[at].value != self._listening or not self._listening:
            self._order_levels(choices[at].value)

    @work(group="levels", exclusive=True)
    async def _order_levels(self, device: str) -> None:
        self._listening = device or "(default)"
        self.level.rest(f"opening{self.signs.ellipsis}")
        await self._helper.order("levels", input=device)

    def _reported(self, report: Report) -> None:
        if report["report"] == "level":
            self.level.show(
                report["mic_db"], peak=report["peak_db"], clipped=report["clipped"], speech=report["speech"]
            )
        elif report["report"] == "problem":
            self._listening = ""
            used = "the call uses it, see its level above"
            self.level.rest(used if self._used_by_the_call() else sanitise_line(str(report["text"]), 200))

    def _used_by_the_call(self) -> bool:
        """Return True for the call's own microphone: some sound systems do not share one."""
        at = self._lists["input"].highlighted
        if at is None or not self.console.store.live:
            return False
        choice = self._choices["input"][at]
        name = choice.name if choice.value else choice.detail
        return bool(name) and name == self.console.store.view.input_device

    # -- headphones --------------------------------------------------------------------------------------------------

    def _speaker(self) -> str:
        return f"{NOUNS['output']} (headphones)" if self._headphones else NOUNS["output"]

    def action_headphones(self) -> None:
        """Turn the headphones mode on or off; during a call at once."""
        console = self.console
        if console.waiting or console.settings.replay or not console.store.live:
            self._keep_headphones("")
            return
        from gemini_live_runtime.commands import SetDevices

        devices_now = SetDevices(
            input=self._chosen.get("input", ""), output=self._chosen.get("output", ""), headphones=not self._headphones
        )
        self._headphones_order = console.order(devices_now)
        if not self._headphones_order:
            self.say("The engine does not take orders at the moment. Try again.", "warning")

    @work(group="choose")
    async def _keep_headphones(self, now: str) -> None:
        on = not self._headphones
        try:
            note = await asyncio.to_thread(save, {"audio.headphones": on}, self.console.settings.profile)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        if self.console.settings.starter is not None:
            self.console.settings.starter.on_saved("audio.headphones")
        self._headphones = on
        self._speaker_title.update(self._speaker())
        text = "the microphone is never attenuated" if on else "echo is kept from the model"
        self.say(" ".join(filter(None, (f"Headphones {'on' if on else 'off'}: {text}. Saved.", now, note))))

    # -- choosing ----------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        side = "input" if event.option_list is self._lists["input"] else "output"
        if event.option_index < len(self._choices[side]):
            self._choose(side, self._choices[side][event.option_index])

    def _choose(self, side: str, choice: devices.DeviceOption) -> None:
        """Choose a device; during a call it is saved once the change succeeded."""
        console = self.console
        if console.waiting or console.settings.replay or not console.store.live:
            self._keep(side, choice, "")
            return
        from gemini_live_runtime.commands import SetDevices

        wanted = {**self._chosen, side: choice.value}
        ident = console.order(SetDevices(input=wanted["input"], output=wanted["output"]))
        if ident:
            self._ordered = (ident, side, choice)
            self.say(f"Changing the devices{self.signs.ellipsis}")
        else:
            self.say("The engine does not take orders at the moment. Try again.", "warning")

    def _sound_opened(self, event: Event) -> None:
        """Show the devices that the call has opened, by choice or by itself."""
        if self._headphones_order:
            self._headphones_order = ""
            self._keep_headphones("The call goes on with that.")
            return
        if self._ordered is not None:
            _, side, choice = self._ordered
            self._ordered = None
            self._keep(side, choice, "The call goes on with it.")
            return
        from gemini_live_runtime.events import AudioOpened

        if isinstance(event.payload, AudioOpened):
            names = sanitise_line(event.payload.input, 60), sanitise_line(event.payload.output, 60)
            self._look_again(f"The call uses {names[0] or 'no microphone'} and {names[1] or 'no speaker'}.")

    def _sound_lost(self, event: Event) -> None:
        """Show what the call has lost, and what there is instead."""
        from gemini_live_runtime.events import AudioLost

        if isinstance(event.payload, AudioLost):
            self._look_again(sanitise_line(event.payload.reason, 200))

    def refused(self, command_id: str, reason: str) -> bool:
        """Show that the old devices stay; return False for another screen's command."""
        if command_id and command_id == self._headphones_order:
            self._headphones_order = ""
            self.say(reason, "error")
            return True
        if self._ordered is None or command_id != self._ordered[0]:
            return False
        self._ordered = None
        self.say(reason, "error")
        return True

    @work(group="choose")
    async def _keep(self, side: str, choice: devices.DeviceOption, now: str) -> None:
        key = f"audio.{side}"
        try:
            note = await asyncio.to_thread(save, {key: choice.value}, self.console.settings.profile)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return
        if self.console.settings.starter is not None:
            self.console.settings.starter.on_saved(key)
        self._chosen[side] = choice.value
        options = self._lists[side]
        for at, option in enumerate(self._options(side)):
            options.replace_option_prompt_at_index(at, option.prompt)
        self.say(" ".join(filter(None, (f"{NOUNS[side]}: {choice.name}. Saved.", now, note))))
        if side == "input":
            self._lists["output"].focus()

    async def on_unmount(self) -> None:
        """Stop the measurement."""
        if not self.console.waiting:
            from gemini_live_runtime.events import AudioLost, AudioOpened

            for kind, listener in ((AudioOpened, self._sound_opened), (AudioLost, self._sound_lost)):
                with contextlib.suppress(KeyError, ValueError):
                    self.console.store.unlisten(kind, listener)
        await self._helper.close()
