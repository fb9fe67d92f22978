"""Gemini's voice names as espeak-ng voices: a variant and a pitch each, so that they can be told apart."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_VOICE = "Puck"


@dataclass(frozen=True, slots=True)
class EspeakVoice:
    """`name` is espeak-ng's (language+variant), `pitch` 0 to 99, `speed` in words a minute."""

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
    """Whether `name` is one of Gemini's voices, case ignored."""
    return name.strip().capitalize() in VOICES


def voice_for(name: str) -> EspeakVoice:
    """The voice that stands for a Gemini voice, case ignored; the default one for "" and unknown names."""
    wanted = name.strip().capitalize()
    return VOICES.get(wanted, VOICES[DEFAULT_VOICE])
