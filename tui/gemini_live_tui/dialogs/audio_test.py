"""Test the microphone or the echo, with live levels and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.painting.wrapping import wrap
from gemini_live_tui.set_up.sound_helper import Report
from gemini_live_tui.widgets.box_screen import BoxScreen
from gemini_live_tui.widgets.level_row import LevelRow

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MARKS = {"good": ("GOOD", "$confirmed"), "fair": ("FAIR", "$caution"), "poor": ("POOR", "$failure")}
INDENT = " " * 6
WIDTH = 70 - len(INDENT)


class AudioTestScreen(BoxScreen):
    """Screen of one test, started with enter. A call is muted meanwhile."""

    HINT: ClassVar[str] = "{sound-test} begins, esc closes"
    TEST: ClassVar[str] = ""
    WHAT: ClassVar[str] = ""
    BUSY: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sound-test")]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        self._testing = False
        self._muted = False
        self._verdict = Static("", id="trial-verdict", classes="gap", markup=False)
        self.microphone = LevelRow("microphone", id="trial-microphone", glyphs=self.signs)
        self._helper = console.sound_helper(self._reported)

    def contents(self) -> Iterator[Widget]:
        """Yield the description, the levels and the verdict."""
        text = self.WHAT
        if not self.console.waiting:
            text += " The call does not hear it: its microphone is muted meanwhile."
        yield Static(text, markup=False)
        yield from self.rows()
        yield self._verdict

    def rows(self) -> Iterator[Widget]:
        """Yield the levels on show."""
        self.microphone.add_class("gap")
        yield self.microphone

    def on_mount(self) -> None:
        """Open no device yet."""
        self.say("Press enter to begin.")

    def action_begin(self) -> None:
        """Start the test, unless one is running."""
        if not self._testing:
            self._testing = True
            self._verdict.update("")
            self._mute(True)
            self.say(f"Opening the sound devices{self.signs.ellipsis}")
            self._begin()

    @work(group="trial", exclusive=True)
    async def _begin(self) -> None:
        microphone, speaker = self.console.settings.devices()
        await self._helper.order(self.TEST, input=microphone, output=speaker)

    def _mute(self, on: bool) -> None:
        """Keep the test's sound out of a call, then restore its microphone."""
        console = self.console
        view = console.store.view
        if console.waiting or not console.store.live or console.settings.replay:
            return
        from gemini_live_runtime.commands import SetMicrophone

        if on and view.mode == "voice" and view.microphone:
            self._muted = bool(console.order(SetMicrophone(on=False)))
        elif not on and self._muted:
            self._muted = False
            console.order(SetMicrophone(on=True))

    def _reported(self, report: Report) -> None:
        kind = report["report"]
        if kind == "level":
            self._level(report)
        elif kind == "problem":
            self._over()
            self.say(f"{sanitise_line(str(report['text']), 300)} Press enter to try again.", "error")
        elif kind == "result":
            self._over()
            word, colour = MARKS.get(str(report["mark"]), MARKS["poor"])
            lines = [Content.assemble((word, f"bold {colour}"), f"  {_hang(str(report['text']))}")]
            if report["remedy"]:
                lines.append(Content(f"{INDENT}{_hang(str(report['remedy']))}."))
            lines.extend(Content.styled(f"{INDENT}{_hang(line)}", "$quiet") for line in self.numbers(report))
            self._verdict.update(Content("\n").join(lines))
            self.say("Press enter to do it again.")

    def _over(self) -> None:
        self._testing = False
        self.microphone.rest("")
        self._mute(False)

    def _level(self, report: Report) -> None:
        self.microphone.show(
            report["mic_db"], peak=report["peak_db"], clipped=report["clipped"], speech=report["speech"]
        )
        left = report["left_s"]
        if left is not None:
            self.say(f"{self.BUSY} {left:.0f} s left.")

    def numbers(self, report: Report) -> Iterator[str]:
        """Yield the measured values."""
        raise NotImplementedError

    async def on_unmount(self) -> None:
        """End the test."""
        self._mute(False)
        await self._helper.close()


class MicrophoneTest(AudioTestScreen):
    """Test of the microphone, five seconds long."""

    HEADING: ClassVar[str] = "Test the microphone"
    TEST: ClassVar[str] = "microphone"
    WHAT: ClassVar[str] = "Say a sentence or two, as you will in a call. It listens for five seconds and keeps nothing."
    BUSY: ClassVar[str] = "Listening: say something."

    def numbers(self, report: Report) -> Iterator[str]:
        """Yield peak, voice and room."""
        voice, room, peak = (f"{report[name]:.0f} dBFS" for name in ("voice_db", "floor_db", "peak_db"))
        yield f"voice {voice}, room {room}, peak {peak}"


class EchoTest(AudioTestScreen):
    """Test of the echo: a melody, and its return through the microphone."""

    HEADING: ClassVar[str] = "Test for echo"
    TEST: ClassVar[str] = "echo"
    WHAT: ClassVar[str] = "Plays a melody for six seconds and listens to what of it comes back. Be quiet meanwhile."
    BUSY: ClassVar[str] = "Playing: please be quiet."

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        self.speaker = LevelRow("speaker", id="trial-speaker", glyphs=self.signs)

    def rows(self) -> Iterator[Widget]:
        """Yield microphone and speaker."""
        yield from super().rows()
        yield self.speaker

    def _level(self, report: Report) -> None:
        super()._level(report)
        self.speaker.show(report["out_db"])

    def _over(self) -> None:
        super()._over()
        self.speaker.rest("")

    def numbers(self, report: Report) -> Iterator[str]:
        """Yield the level of the echo and its reduction."""
        if report["return_db"] is None:
            yield "echo return: none"
            return
        taken = "nothing" if report["reduction_db"] is None else f"{report['reduction_db']:.0f} dB"
        yield f"echo return {report['return_db']:+.0f} dB, the microphone against the speaker"
        yield f"{taken} of it is taken out"


def _hang(text: str) -> str:
    """Return `text` wrapped, later lines below the first."""
    text = sanitise_line(text, 300)
    return f"\n{INDENT}".join(text[start:end] for start, end in wrap(text, WIDTH))
