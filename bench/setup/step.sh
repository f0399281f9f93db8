# shellcheck shell=bash
# A recipe of the Makefile that may take long sources this file first: `. bench/setup/step.sh WHAT; COMMAND`.
#
# It prints what the recipe builds, and at the end how long that took. A recipe of less than STEP_SECONDS (default 2)
# prints nothing, so that a build of what is built already stays quiet.

step_what="$*" step_limit="${STEP_SECONDS:-2}" step_started=$SECONDS
# The sleep holds none of the recipe's streams, because a pipe's reader would wait for it.
{
    sleep "$step_limit" >/dev/null 2>&1
    echo "building $step_what"
} &
step_timer=$!

step_end() {
    local status=$? seconds=$((SECONDS - step_started))
    kill "$step_timer" 2>/dev/null || true
    wait "$step_timer" 2>/dev/null || true
    if [ "$status" -ne 0 ]; then
        echo "failed: $step_what, after $seconds s"
    elif [ "$seconds" -ge "$step_limit" ]; then
        echo "built $step_what in $seconds s"
    fi
    return "$status"
}
trap step_end EXIT
