"""Recognise speech by pocketsphinx: a grammar of phrases, then dictation.

All decoding of a process runs in one thread with one set of models, because pocketsphinx decoders are not thread-safe
and the models are large. `rejection.py` decides whether the decoded phrase was really said, `dictation.py` which
other words were, and `spoken_values.py` whether a name in them was.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.installation import install_command
from gemini_live_runtime.local.language.letter_sounds import guess_phones
from gemini_live_runtime.local.parts import RECOGNISER_RATE, Dialogue, Recognition
from gemini_live_runtime.local.recognition.dictation import Dictated, choose, denies_otherwise
from gemini_live_runtime.local.recognition.language_model import English, LanguageModel, build_language_model
from gemini_live_runtime.local.recognition.levels import BLOCK, LEVEL, measure
from gemini_live_runtime.local.recognition.rejection import (
    ACCEPT,
    LOG_FLOOR,
    NOTHING,
    Decoding,
    Evidence,
    Segment,
    confidence,
    weigh,
)
from gemini_live_runtime.local.recognition.spoken_values import text_to_ask
from gemini_live_runtime.local.scripts.grammar import Grammar
from gemini_live_runtime.local.scripts.sample_sentences import SampleSentences
from gemini_live_runtime.records import record

MAX_GRAMMARS = 12
"""Most compiled grammars; the least recently used is dropped."""

MAX_DIALOGUES = 3
"""Most dialogues whose sentences can be dictated without loading; 8 MB each."""

MAX_PATHS = 3_000
"""Most paths that dictation of all English follows at a time: a tenth of the default, as accurate, in half the time."""

_SLICE = RECOGNISER_RATE * 40 // 1000 * 2
"""Bytes of 40 ms of audio."""
_DITHER_DB = -40.0
"""Level (dB below speech) of added noise; digital silence breaks feature normalisation."""
_LEAD_S, _TAIL_S = 0.3, 0.3
_QUIET = 0.02
"""Part of the loudest 20 ms below which the ends are trimmed."""
_MARGIN_BLOCKS = 5
_WIDE_BEAMS = {"beam": 1e-60, "pbeam": 1e-60, "wbeam": 1e-40}
_FILLERS = ("<s>", "</s>", "<sil>", "SIL", "(NULL)", "[NOISE]", "[SPEECH]", "+NSN+", "+SPN+")


def _model_folder() -> Path:
    import pocketsphinx

    return Path(pocketsphinx.get_model_path()) / "en-us"


def _models() -> dict[str, Any]:
    model = _model_folder()
    return {
        "hmm": str(model / "en-us"),
        "dict": str(model / "cmudict-en-us.dict"),
        "loglevel": "FATAL",
        "lm": None,
    }


class DecodedUtterance:
    """Decoded utterance with its evidence, as used for fitting the weights."""

    __slots__ = ("complete", "dictated", "english", "evidence", "phrase", "text")

    def __init__(
        self,
        text: str,
        complete: bool,
        evidence: Evidence | None,
        dictated: Decoding | None = None,
        *,
        phrase: Decoding = NOTHING,
        english: Decoding = NOTHING,
    ) -> None:
        """Keep decodings by the dialogue's own words, its phrases, and all English."""
        self.text = text
        self.complete = complete
        self.evidence = evidence
        self.dictated = dictated
        self.phrase = phrase
        self.english = english


@record
class Opinion:
    """Recognised words, and the texts of all decodings; `is_phrase` for a sure phrase."""

    recognition: Recognition
    is_phrase: bool
    decodings: tuple[str, ...]


class Engine:
    """Models of the process, created by `shared_engine`.

    Only `run` and `warm` may be called from other threads.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="recogniser")
        self._grammar: Any = None
        self._free: Any = None
        self._loop: Any = None
        self._compiled: OrderedDict[Grammar, str] = OrderedDict()
        self._number = 0
        self._english: English | None = None
        self._dictation: OrderedDict[SampleSentences, Any] = OrderedDict()
        self._phones: dict[str, tuple[str, ...]] = {}

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function` in the engine's thread; virtual time waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *args)

    def warm(self, samples: SampleSentences) -> None:
        """Start loading the models, ahead of the first utterance, without waiting."""
        if samples not in self._dictation:
            self._executor.submit(self._dictating, samples)

    def load(self) -> None:
        """Load the models, once; takes about half a second."""
        if self._grammar is not None:
            return
        import pocketsphinx

        common, model = _models(), _model_folder()
        self._free = pocketsphinx.Decoder(**{**common, "lm": str(model / "en-us.lm.bin"), "maxhmmpf": MAX_PATHS})
        # A language weight of 2 and narrow beams are what pocketsphinx advises for phone loops.
        loop = {"allphone": str(model / "en-us-phone.lm.bin"), "lw": 2.0, "beam": 1e-10, "pbeam": 1e-10}
        self._loop = pocketsphinx.Decoder(**common, **loop)
        self._grammar = pocketsphinx.Decoder(**common, **_WIDE_BEAMS)

    @property
    def is_loaded(self) -> bool:
        """True when the models are loaded."""
        return self._grammar is not None

    def prepare(self, grammar: Grammar, pronunciations: Mapping[str, tuple[str, ...]]) -> None:
        """Load the models and compile `grammar`, ahead of the first utterance."""
        self._activate(grammar, pronunciations)

    def decode(
        self,
        pcm: bytes,
        grammar: Grammar,
        pronunciations: Mapping[str, tuple[str, ...]],
        samples: SampleSentences | None = None,
    ) -> DecodedUtterance:
        """Decode s16le mono PCM at 16 kHz by `grammar`.

        What is no phrase of it is dictated, when there are `samples` of what people say.
        """
        sound = prepare(pcm)
        if not sound:
            return DecodedUtterance("", False, None)
        self._activate(grammar, pronunciations)
        heard = self._decode(self._grammar, sound)
        english = self._decode(self._free, sound)
        words = heard.text.split()
        evidence = None
        if words and grammar.accepts(words):
            evidence = weigh(heard, english, self._decode(self._loop, sound, phones=True))
            is_sure = confidence(evidence) >= ACCEPT and not denies_otherwise(heard.text, english.text)
            if samples is None or is_sure:
                return DecodedUtterance(heard.text, True, evidence, phrase=heard, english=english)
        if samples is None:
            return DecodedUtterance(heard.text, False, None)
        dictated = self._decode(self._dictating(samples), sound)
        return DecodedUtterance(heard.text, evidence is not None, evidence, dictated, phrase=heard, english=english)

    def _dictating(self, samples: SampleSentences) -> Any:
        """Return the decoder for sentences like `samples`, made once."""
        decoder = self._dictation.get(samples)
        if decoder is None:
            self.load()
            if self._english is None:
                self._english = English(self._probability())
            model = build_language_model(samples.sentences, self._english)
            decoder = self._dictation[samples] = self._decoder_of(model)
        self._dictation.move_to_end(samples)
        while len(self._dictation) > MAX_DIALOGUES:
            self._dictation.popitem(last=False)
        return decoder

    def _probability(self) -> Callable[[list[str]], float]:
        model, base = self._free.get_lm(self._free.current_search()), self._free.get_logmath()
        return lambda words: float(base.exp(model.prob(words)))

    def _decoder_of(self, model: LanguageModel) -> Any:
        """Return a decoder that knows the words of `model` only.

        It takes some 40 ms and 8 MB: nothing is searched for words that the model lacks.
        """
        import pocketsphinx

        with tempfile.TemporaryDirectory(prefix="gemini-live-") as folder:
            dictionary, language = Path(folder) / "words.dict", Path(folder) / "language.arpa"
            dictionary.write_text("".join(map(self._entries, model.words)), "utf-8")
            language.write_text(model.arpa, "utf-8")
            return pocketsphinx.Decoder(**{**_models(), "dict": str(dictionary), "lm": str(language)})

    def _entries(self, word: str) -> str:
        """Return the lines of a dictionary that say how `word` is spoken."""
        if word in _FILLERS:
            return ""
        known = self._free.lookup_word(word)
        if known is None:
            return f"{word} {guess_phones(word)}\n"
        entries, number = f"{word} {known}\n", 2
        while (known := self._free.lookup_word(f"{word}({number})")) is not None:
            entries, number = f"{entries}{word}({number}) {known}\n", number + 1
        return entries

    def _activate(self, grammar: Grammar, pronunciations: Mapping[str, tuple[str, ...]]) -> None:
        self.load()
        name = self._compiled.get(grammar)
        if name is None:
            self._add_words(grammar, pronunciations)
            name = f"grammar-{self._number}"
            self._number += 1
            self._grammar.add_jsgf_string(name, grammar.jsgf())
            self._compiled[grammar] = name
        self._compiled.move_to_end(grammar)
        self._grammar.activate_search(name)
        while len(self._compiled) > MAX_GRAMMARS:
            _, oldest = self._compiled.popitem(last=False)
            self._grammar.remove_search(oldest)

    def _add_words(self, grammar: Grammar, pronunciations: Mapping[str, tuple[str, ...]]) -> None:
        for word in sorted(grammar.words()):
            known = self._grammar.lookup_word(word) is not None
            for option in pronunciations.get(word, () if known else (guess_phones(word),)):
                number = 1
                while self._grammar.lookup_word(word if number == 1 else f"{word}({number})") is not None:
                    number += 1
                self._grammar.add_word(word if number == 1 else f"{word}({number})", option, True)

    def _decode(self, decoder: Any, sound: bytes, *, phones: bool = False) -> Decoding:
        # Reset estimates of noise and cepstral mean, which would carry over from the previous utterance.
        decoder.reinit_feat()
        decoder.set_cmn(_INITIAL_CMN)
        decoder.start_utt()
        # Decoding holds the interpreter's lock: slices let the event loop run in between, with the same result.
        for start in range(0, len(sound), _SLICE):
            decoder.process_raw(sound[start : start + _SLICE], full_utt=False)
        decoder.end_utt()
        best = decoder.hyp()
        if best is None:
            return NOTHING
        segments = tuple(
            Segment(
                item.word,
                self._phones_of(decoder, item.word, phones),
                item.start_frame,
                item.end_frame,
                _log(item.ascore),
            )
            for item in decoder.seg()
        )
        return Decoding(best.hypstr, _log(best.score), segments)

    def _phones_of(self, decoder: Any, word: str, phones: bool) -> tuple[str, ...]:
        if word in _FILLERS or word.startswith("++"):
            return ()
        if phones:
            return (word,)
        found = self._phones.get(word)
        if found is None:
            found = tuple((decoder.lookup_word(word) or "").split())
            if len(self._phones) > 50_000:
                self._phones.clear()
            self._phones[word] = found
        return found


# Cepstral means to start each utterance with: the mean over five voices
# of synthetic speech at the level that `prepare` gives. The model's own (40,3,-1) lose 3 % of the sentences.
_INITIAL_CMN = "45.88,-5.20,-2.33,6.73,-8.40,-2.02,-1.46,-5.58,-1.91,-2.14,-0.19,0.19,-1.24"


def _log(score: float) -> float:
    return max(math.log(score), LOG_FLOOR) if score > 0 else LOG_FLOOR


def prepare(pcm: bytes) -> bytes:
    """Normalise, trim, pad and dither PCM; return b"" when silent or too long."""
    import numpy as np

    measured = measure(pcm)
    if measured is None:
        return b""
    sound, block = measured.samples, BLOCK
    audible = np.flatnonzero(measured.levels > _QUIET * measured.levels.max())
    sound = sound[max(0, audible[0] - _MARGIN_BLOCKS) * block : (audible[-1] + 1 + _MARGIN_BLOCKS) * block]
    padded = np.concatenate(
        [
            np.zeros(int(_LEAD_S * RECOGNISER_RATE), np.float32),
            sound * measured.gain,
            np.zeros(int(_TAIL_S * RECOGNISER_RATE), np.float32),
        ]
    )
    noise = np.random.default_rng(0).standard_normal(len(padded), np.float32)
    padded += noise * np.float32(LEVEL * 10 ** (_DITHER_DB / 20))
    return bytes((np.clip(padded, -1.0, 32767 / 32768) * 32768.0).astype("<i2").tobytes())


_engine: Engine | None = None
_engine_lock = threading.Lock()


def has_pocketsphinx() -> bool:
    """Return True when pocketsphinx is installed."""
    return importlib.util.find_spec("pocketsphinx") is not None


def shared_engine() -> Engine:
    """Return the process's engine; raise `MissingExtraError` without pocketsphinx."""
    global _engine
    if not has_pocketsphinx():
        raise MissingExtraError(
            "The embedded model cannot hear: pocketsphinx is not installed",
            remedy=f"Type instead, or run {install_command('local')} (Python below 3.14)",
            field="pocketsphinx",
        )
    with _engine_lock:
        if _engine is None:
            _engine = Engine()
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forget_engine)
        return _engine


def _forget_engine() -> None:
    # A forked child has the object but not its thread.
    global _engine
    _engine = None


class PocketsphinxRecogniser:
    """`Recogniser` for the current phrases of a dialogue."""

    def __init__(self, dialogue: Dialogue, engine: Engine | None = None) -> None:
        self._dialogue = dialogue
        self._engine = engine or shared_engine()
        self._engine.warm(dialogue.samples)

    async def recognise(self, pcm: bytes) -> Recognition:
        """Recognise a whole utterance, s16le mono at 16 kHz."""
        return (await self.listen(pcm)).recognition

    async def listen(self, pcm: bytes) -> Opinion:
        """Recognise a whole utterance, and return all that was decoded."""
        dialogue = self._dialogue
        opinion: DecodedUtterance = await self._engine.run(
            self._engine.decode, pcm, dialogue.grammar, dialogue.pronunciations, dialogue.samples
        )
        score = confidence(opinion.evidence) if opinion.evidence is not None else 0.0
        if score >= ACCEPT and opinion.dictated is None:
            said, decoding = Dictated(opinion.text), opinion.phrase
        elif opinion.dictated is not None:
            said, decoding = choose(opinion.english, opinion.dictated, dialogue.preview), opinion.dictated
        else:
            return Opinion(Recognition("", score), False, (opinion.english.text,))
        asked = text_to_ask(said.text, decoding, opinion.english, dialogue.preview)
        recognition = Recognition(asked or said.text, score, is_doubtful=said.is_doubtful or bool(asked))
        return Opinion(recognition, opinion.dictated is None, (opinion.english.text, decoding.text))

    async def close(self) -> None:
        """Do nothing: the models stay loaded for the next connection."""
