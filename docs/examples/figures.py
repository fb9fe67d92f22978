"""Read what a session measures, as `session:` keys and as telemetry."""

from gemini_live_runtime import Live, SessionSignals, SessionTelemetry, SessionType, State, run_virtual
from gemini_live_runtime import events as ev

agent = Live.builder("desk").instruction("Answer the telephone.").telemetry(every_s=30)


async def main() -> None:
    """Print signals and telemetry of a session."""
    async with agent.connect(backend="local", fast=True) as session:
        await session.send_text("hello")
        await session.until_quiet()
        state, figures = session.state, session.telemetry()
        print(state.get("session:turn_count"), state.get("session:wire_phase"), state.get("session:elapsed_ms") > 0)
        print(figures["turn_count"], sorted(figures["tokens_by_modality"]), figures["text_latency"]["count"])


run_virtual(main())

# Signals alone: events become `session:` keys. The budget is the smaller one once a picture was sent.
state, now = State(), 0.0
signals = SessionSignals(state, now=lambda: now, said=lambda: ("", ""))
signals.observe(ev.ConnectionReady(ms=80.0))
now = 60.0
print(signals.session_type is SessionType.AUDIO_ONLY, state.get("session:remaining_budget_ms"))
signals.mark_video_sent()
print(state.get("session:session_type"), state.get("session:remaining_budget_ms"))

# Telemetry alone: call its methods with the times of what happens.
telemetry = SessionTelemetry(started_at=0.0)
telemetry.turn_started(1.0, 1, "voice")
telemetry.voice_ended(2.0, "server_vad")
telemetry.model_audio(2.6, 48_000)
telemetry.on_playback_started(2.62, device_latency_ms=20.0)
telemetry.turn_completed(4.0)
figures = telemetry.snapshot(10.0)
print(figures["last_response_latency_ms"], figures["first_byte"]["last_ms"], figures["response_latency_source"])

# Prints:
# 1 active True
# 1 ['AUDIO', 'TEXT'] 1
# True 840000
# audio_video 60000
# 640 600.0 server_vad
