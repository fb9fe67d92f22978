"""Map Gemini's voice names to distinguishable espeak-ng voices."""

from __future__ import annotations

from gemini_live_runtime.records import record

DEFAULT_VOICE = "Puck"


@record
class EspeakVoice:
    """Voice of espeak-ng: language+variant, pitch 0 to 99, speed in words a minute."""

    name: str
    pitch: int
    speed: int = 165


_FEMALE = (
    "Achernar Aoede Autonoe Callirrhoe Despina Erinome Gacrux Kore Laomedeia Leda Pulcherrima Sulafat Vindemiatrix "
    "Zephyr"
)
_MALE = (
    "Puck Achird Algenib Algieba Alnilam Charon Enceladus Fenrir Iapetus Orus Rasalgethi Sadachbia Sadaltager Schedar "
    "Umbriel Zubenelgenubi"
)

VOICES: dict[str, EspeakVoice] = {
    **{name: EspeakVoice(f"en-us+f{i % 4 + 1}", 40 + 6 * (i // 4)) for i, name in enumerate(_FEMALE.split())},
    **{name: EspeakVoice(f"en-us+m{i % 4 + 1}", 44 + 6 * (i // 4)) for i, name in enumerate(_MALE.split())},
}


def known_voice(name: str) -> bool:
    """Return True when `name` is one of Gemini's voices, case ignored."""
    return name.strip().capitalize() in VOICES


def voice_for(name: str) -> EspeakVoice:
    """Return the voice for a Gemini name, case ignored; the default if unknown."""
    wanted = name.strip().capitalize()
    return VOICES.get(wanted, VOICES[DEFAULT_VOICE])
