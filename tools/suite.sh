#!/bin/sh
# tools/suite.sh FOLDER PACKAGE[:HALF] [ARGUMENT...]
#
# Runs one package of the end-to-end suite, keeps its output in FOLDER, and says
# how far it is about every half a minute. The output itself is shown when it fails.
# HALF, first or second, runs the specs of the files whose names begin with a to i, or those of the others.
set -u

folder=$1 suite=$2
shift 2
package=${suite%:*}
half=${suite#"$package"}
path=e2e/${package#*/e2e/}
name=$(basename "$path")${half:+-${half#:}}
log=$folder/$name.log
export E2E_USES="$folder/uses/${path##*/}" # halves are asked for the same refusals
# Only suites of ginkgo know its flags.
report=
if grep -q RunSpecs "$path"/*_test.go 2>/dev/null; then
	report="-args -ginkgo.json-report=$folder/$name.json"
	case $half in
	:first) report="$report -ginkgo.focus-file=/[a-i][^/]*\$" ;;
	:second) report="$report -ginkgo.skip-file=/[a-i][^/]*\$" ;;
	esac
fi
set -f # a regular expression of files is no pattern of some here
path=$path${half:+, ${half#:} half}

start=$(date +%s)
took() { printf '%4d s' $(($(date +%s) - start)); }
go test -C e2e -vet=off -v -count=1 -timeout 40m "$@" "$package" $report >"$log" 2>&1 &
suite=$!
trap 'kill $suite' INT TERM
seconds=0
while sleep 1 && kill -0 $suite 2>/dev/null; do
	seconds=$((seconds + 1))
	[ $((seconds % 30)) = 0 ] || continue
	all=$(sed -n 's/\x1b\[[0-9;]*m//g; s/^Will run \([0-9]*\) of .*/\1/p' "$log")
	[ -z "$all" ] || printf '%-18s %s  %d of %d specs\n' "$path" "$(took)" "$(grep -o '•' "$log" | wc -l)" "$all"
done
if wait $suite; then
	printf '%-18s %s  ok\n' "$path" "$(took)"
else
	cat "$log"
	printf '%-18s %s  FAILED\n' "$path" "$(took)"
	echo "$package" >"$folder/$name.failed"
fi
