#!/bin/sh
# A sound card for machines without one: a private PulseAudio server whose only sink plays into nothing, and whose
# microphone is that sink's monitor. What is played is what is heard.
#
#   eval "$(sh tests/audio/pulse_loop.sh start)"    # prints the environment to use
#   sh tests/audio/pulse_loop.sh stop
#
# Starting it twice is starting it once. Whoever plays into the same loop is heard too: give GLT_PULSE_DIR to be alone.
# It needs the programs pulseaudio and pactl and ALSA's pulse plugin. Everything lives in one private folder
# (GLT_PULSE_DIR, default: a folder of this user's in the temporary directory); no file of the user's is read or written.
set -eu

folder=${GLT_PULSE_DIR:-${TMPDIR:-/tmp}/glt-pulse-$(id -u)}
PULSE_RUNTIME_PATH=$folder/run
export PULSE_RUNTIME_PATH
# Keep the user's own configuration, cookie and D-Bus out of it.
unset PULSE_SERVER PULSE_SINK PULSE_SOURCE DBUS_SESSION_BUS_ADDRESS ALSA_CONFIG_PATH || true
PULSE_STATE_PATH=$folder/state PULSE_CONFIG_PATH=$folder/config PULSE_COOKIE=$folder/cookie
export PULSE_STATE_PATH PULSE_CONFIG_PATH PULSE_COOKIE

stop() {
    if [ -f "$PULSE_RUNTIME_PATH/pid" ]; then
        pid=$(cat "$PULSE_RUNTIME_PATH/pid")
        kill "$pid" 2>/dev/null || true
        tries=0
        while kill -0 "$pid" 2>/dev/null && [ $tries -lt 30 ]; do tries=$((tries + 1)); sleep 0.1; done
    fi
    rm -rf "$folder"
}

environment() {
    echo "export PULSE_RUNTIME_PATH='$PULSE_RUNTIME_PATH' ALSA_CONFIG_PATH='$folder/alsa.conf' PULSE_COOKIE='$PULSE_COOKIE'"
}

start() {
    if pactl info >/dev/null 2>&1; then
        environment
        return
    fi
    mkdir -p "$PULSE_RUNTIME_PATH" "$PULSE_STATE_PATH" "$PULSE_CONFIG_PATH"
    chmod 700 "$folder" "$PULSE_RUNTIME_PATH"
    cat >"$folder/alsa.conf" <<'ALSA'
</usr/share/alsa/alsa.conf>
pcm.!default { type pulse hint { show on description "loop" } }
ctl.!default { type pulse }
pcm.pulse { type pulse }
ctl.pulse { type pulse }
ALSA
    # norewinds: without it a null sink starts streams up to 1.5 s late, and streams of 10 ms blocks can stall.
    pulseaudio -n --daemonize=yes --exit-idle-time=-1 --use-pid-file=yes \
        --log-target="file:$folder/log" --log-level=notice \
        -L "module-native-protocol-unix auth-anonymous=1" \
        -L "module-null-sink sink_name=loop rate=48000 channels=1 norewinds=1 sink_properties=device.description=loop" \
        >&2
    tries=0
    until pactl info >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 50 ]; then
            echo "pulse_loop.sh: the server did not start" >&2
            cat "$folder/log" >&2 || true
            exit 1
        fi
        sleep 0.1
    done
    pactl set-default-sink loop
    pactl set-default-source loop.monitor
    pactl set-sink-volume loop 100%
    environment
}

case ${1:-} in
start) start ;;
stop) stop ;;
*)
    echo "usage: $0 start|stop" >&2
    exit 2
    ;;
esac
