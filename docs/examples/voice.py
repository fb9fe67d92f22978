"""Detect speech on our side, and turns in which the model keeps silent."""

import math
import struct

from gemini_live_runtime import InputVad, InputVadSnapshot, Live, SoftTurnDetector

RATE = 16_000


def loud(frame: bytes) -> bool:
    """Return True for loud frames; without a detector, WebRTC's is used."""
    samples = struct.unpack(f"<{len(frame) // 2}h", frame)
    return math.sqrt(sum(s * s for s in samples) / len(samples)) > 500


def sound(seconds: float, level: int) -> bytes:
    count = round(seconds * RATE)
    return struct.pack(f"<{count}h", *(round(level * math.sin(i / 5)) for i in range(count)))


vad = InputVad(frame_ms=20, min_speech_frames=2, hangover_frames=12, detector=loud)
for pcm in (sound(0.4, 0), sound(0.6, 8000), sound(0.1, 0), sound(0.5, 8000), sound(0.5, 0)):
    for edge in vad.add(pcm):
        print(f"{edge.kind}: decided at {edge.at_s:.2f} s, voice at {edge.voice_s:.2f} s")
        if edge.kind == "start":
            print(f"  {len(vad.take_pre_speech()) / 2 / RATE:.2f} s of sound before it are sent first")
snapshot: InputVadSnapshot = vad.snapshot()
print(snapshot.state, snapshot.frames_processed)

# A soft turn: the user spoke and the model did not answer. It is due once, unless speech goes on.
soft = SoftTurnDetector(timeout_s=2.0)
soft.voice_ended(10.0)
print(soft.deadline(11.5), soft.due(12.0), soft.due(12.5))

# In an agent: our own detector finds speech, and silent turns count as turns.
agent = Live.builder("listener").instruction("Listen. Speak only when asked.")
agent = agent.turn_taking("client", preset="conversational").soft_turns(after_s=2.0)
print(agent.ignored_settings())

# Prints:
# start: decided at 0.44 s, voice at 0.40 s
#   0.14 s of sound before it are sent first
# end: decided at 1.84 s, voice at 1.60 s
# silence 105
# 0.5 True False
# []
