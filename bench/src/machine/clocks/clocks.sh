#!/bin/sh
# Changes the clocks of all CPUs by the kernel's files, which `cpupower frequency-set` writes, too.
#
#   clocks.sh show ROOT           prints the settings
#   clocks.sh set ROOT GHZ        fixes the clock without turbo
#   clocks.sh hold ROOT GHZ       does so until its input ends or a signal arrives, then restores the settings
#   clocks.sh restore ROOT        restores the settings from before
#
# ROOT is / except in tests. The note of the earlier settings outlives a killed run, and a reboot removes it
# together with the changed settings.
set -eu
action=$1 root=${2%/} ghz=${3:-}
note=$root/run/triptych-clocks

fail() {
	echo "triptych: $*" >&2
	exit 1
}

# A kernel whose turbo the firmware forbids refuses even the value that it has.
put() { # VALUE FILE
	[ "$(cat "$2")" = "$1" ] || printf %s "$1" >"$2" || fail "cannot write $1 to $PWD/$2; only root may do that: use sudo"
}

# The lower limit first goes down as far as it can, because the kernel keeps it below the upper one.
limit() { # POLICY LOWER UPPER
	put "$(cat "$1/cpuinfo_min_freq")" "$1/scaling_min_freq"
	put "$3" "$1/scaling_max_freq"
	put "$2" "$1/scaling_min_freq"
}

settings() {
	for switch in ../intel_pstate/no_turbo boost; do
		[ ! -e "$switch" ] || echo "$switch $(cat "$switch")"
	done
	for policy in policy*; do
		echo "$policy $(cat "$policy/scaling_min_freq") $(cat "$policy/scaling_max_freq")"
	done
}

restore() {
	while read -r file value upper; do
		# Its CPUs may have gone offline.
		[ -e "$file" ] || continue
		case $file in
		policy*) limit "$file" "$value" "$upper" ;;
		*) put "$value" "$file" ;;
		esac
	done <"$note"
	rm "$note"
}

# The lowest and the highest clock that all CPUs have, in kHz.
range() {
	echo "$(cat policy*/cpuinfo_min_freq | sort -n | tail -1) $(cat policy*/cpuinfo_max_freq | sort -n | head -1)"
}

fix() {
	[ -w "$root/run" ] || fail "cannot write $note; only root may fix clocks: use sudo"
	# The note of a killed run has the settings from before that run.
	[ -e "$note" ] || { settings >"$note.new" && mv "$note.new" "$note"; }
	trap restore EXIT
	trap 'exit 1' HUP INT TERM
	trap '' PIPE
	# Turbo goes off first, because it may change the range.
	[ ! -e ../intel_pstate/no_turbo ] || put 1 ../intel_pstate/no_turbo
	[ ! -e boost ] || put 0 boost
	khz=$(range | awk -v ghz="$ghz" '
		ghz * 1e6 >= $1 - 1 && ghz * 1e6 <= $2 + 1 { printf "%.0f", ghz * 1e6; exit }
		{ printf "%s %s", $1 / 1e6, $2 / 1e6 }')
	case $khz in
	*" "*) fail "$ghz GHz is outside of this processor's ${khz% *} to ${khz#* } GHz (without turbo): name other clocks" ;;
	esac
	for policy in policy*; do
		limit "$policy" "$khz" "$khz"
		awk -v khz="$khz" '$1 < 0.97 * khz || $1 > 1.03 * khz { exit 1 }' "$policy"/scaling_m*_freq ||
			fail "the kernel set $policy to another clock than $ghz GHz: name one of scaling_available_frequencies," \
				"or end the program that sets clocks (tuned, tlp, power-profiles-daemon)"
	done
}

folder=$root/sys/devices/system/cpu/cpufreq
[ -n "$(find "$folder" -maxdepth 1 -name 'policy*' 2>/dev/null)" ] ||
	fail "this machine has no clock settings ($folder has no policies): a virtual" \
		"machine has none; on a real one, load the driver acpi-cpufreq or intel_pstate and allow clock settings in" \
		"the firmware, or measure with --keep-clock at the clock that the machine has"
cd "$folder"
if [ "$action" = show ]; then
	echo "range in kHz: $(range)"
	settings
	exit
fi
exec 9<.
# The holder of a run that was just killed restores the settings within a moment.
flock -w 3 9 || fail "another triptych holds the clocks: wait for it, or end it"
case $action in
restore)
	[ ! -e "$note" ] || restore
	echo "the earlier clock settings are restored"
	;;
set)
	fix
	trap - EXIT
	echo "all CPUs run at $ghz GHz without turbo; \`triptych clocks restore\` ends that"
	;;
hold)
	fix
	echo fixed
	read -r _ || : # until the run ends
	;;
esac
