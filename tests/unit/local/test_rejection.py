from dataclasses import replace

from gemini_live_runtime.local.recognition.rejection import ACCEPT, Decoding, Segment, confidence, similarity, weigh


def decoding(score: float, *words: tuple[str, float]) -> Decoding:
    segments = tuple(Segment(w, tuple(w), i * 10, i * 10 + 9, acoustic) for i, (w, acoustic) in enumerate(words))
    return Decoding(" ".join(w for w, _ in words), score, segments)


SAID = decoding(-1.0, ("hello", -100.0), ("there", -100.0))
FREE = decoding(-1.2, ("hello", -100.0), ("there", -100.0))
LOOP = decoding(-0.9, ("hello", -95.0), ("there", -95.0))


def test_a_phrase_that_all_decodings_agree_on_is_accepted() -> None:
    assert confidence(weigh(SAID, FREE, LOOP)) > ACCEPT


def test_a_phrase_that_sounds_like_neither_free_decoding_is_refused() -> None:
    other = decoding(-0.2, ("quite", -20.0), ("mixed", -20.0))
    assert confidence(weigh(SAID, other, other)) < ACCEPT


def test_each_measure_that_gets_worse_lowers_the_confidence() -> None:
    evidence = weigh(SAID, FREE, LOOP)
    worse = {
        "like_loop": 0.1,
        "path_free": -3.0,
        "path_loop": -3.0,
        "worst_word": -9.0,
        "length_free": -1.0,
        "length_loop": 1.0,
        "pause": 5.0,
    }
    for name, value in worse.items():
        assert confidence(replace(evidence, **{name: value})) < confidence(evidence), name


def test_the_worst_word_is_the_one_furthest_from_the_free_decoding() -> None:
    bad = decoding(-1.0, ("hello", -100.0), ("there", -140.0))
    assert weigh(bad, FREE, LOOP).worst_word == -4.0


def test_similarity_runs_from_nothing_to_the_same() -> None:
    assert (similarity("abc", "abc"), similarity("abc", "xyz"), similarity("", ""), similarity("abcd", "abxd")) == (
        1.0, 0.0, 1.0, 0.75,
    )  # fmt: skip


def test_silence_in_a_decoding_is_no_word() -> None:
    silent = Decoding("", -5.0, (Segment("<sil>", (), 0, 19, -50.0),))
    assert weigh(SAID, silent, silent).like_loop == 0.0


def test_a_silence_between_words_counts_and_those_around_do_not() -> None:
    def silence(first: int, last: int) -> Segment:
        return Segment("<sil>", (), first, last, -1.0)

    word, other = Segment("a", ("AH",), 50, 59, -9.0), Segment("b", ("B",), 90, 99, -9.0)
    paused = Decoding("a b", -1.0, (silence(0, 49), word, silence(60, 89), other, silence(100, 199)))
    assert weigh(paused, FREE, LOOP).pause == 3.0


def test_missing_words_show_in_the_length() -> None:
    long = decoding(-1.0, ("hello", -100.0), ("there", -100.0), ("everybody", -100.0))
    assert weigh(SAID, long, LOOP).length_free < 0 == weigh(SAID, FREE, LOOP).length_free
