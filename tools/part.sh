#!/bin/sh
# tools/part.sh [-live] NAME COMMAND [ARGUMENT...]
#
# Runs one part of a longer job: keeps its output in bin/log/NAME.log, its time
# in bin/log/times, and says one line at its start and one at its end. The output
# itself is shown when the part fails, or as it comes with -live.
set -u

live=
if [ "$1" = -live ]; then
	live=yes
	shift
fi
name=$1
shift

mkdir -p bin/log
log=bin/log/$name.log
rm -f "$log.failed"
start=$(date +%s)
printf '%-14s ...\n' "$name"
if [ -n "$live" ]; then
	# A pipe has the exit code of its last command, so the first leaves a file.
	{ "$@" || echo "$?" >"$log.failed"; } 2>&1 | tee "$log"
else
	"$@" >"$log" 2>&1 || echo "$?" >"$log.failed"
fi
seconds=$(($(date +%s) - start))

if [ ! -e "$log.failed" ]; then
	printf '%-14s ok      %4d s\n' "$name" "$seconds" | tee -a bin/log/times
	exit 0
fi
code=$(cat "$log.failed")
rm -f "$log.failed"
[ -n "$live" ] || cat "$log"
printf '%-14s FAILED  %4d s  see %s\n' "$name" "$seconds" "$log" | tee -a bin/log/times
exit "$code"
