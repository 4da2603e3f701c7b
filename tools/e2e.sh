#!/bin/sh
# tools/e2e.sh [ARGUMENT...]
#
# Runs the packages of the end-to-end suite, BESIDE of them (3) beside each other, since
# they mostly wait, all of them even when one fails, with more arguments for go test.
# Prints the slowest specs and what failed, and compares what operator and checker
# did in them with what deploy lets them do.
set -u

# Those that take minutes begin first, the longest before the others, so that none of them is left alone at the end. What is not
# named here follows.
longest='clusterapi openshiftcontrolplane engine faults demo compatibility bootimages migration release private privatecapi tutorial'
# A package that would take longer than all others together beside it is run as two, each with the specs of half of its files.
halved=clusterapi

folder=$PWD/bin/log/e2e
rm -rf "$folder" && mkdir -p "$folder"
packages=$(go list -C e2e ./...) || exit 1

# queue prints the names of suites, in the order in which they begin.
queue() {
	for name in $longest; do
		echo "$packages" | grep "/e2e/$name\$"
	done
	echo "$packages" | grep -v -x -E ".*/e2e/($(echo "$longest" | tr ' ' '|'))"
}

queue | sed "s|\(.*/e2e/$halved\)\$|\1:first\n\1:second|" | xargs -P "${BESIDE:-3}" -I SUITE tools/suite.sh "$folder" SUITE "$@"
failed=$(cat "$folder"/*.failed 2>/dev/null)
go run -C tools ./summary "$folder"
# What operator and checker may do is compared with what they did in all suites.
go run -C e2e ./rights "$folder/uses" || failed="$failed e2e/rights"
[ -z "$failed" ] || { echo "these failed:" $failed && exit 1; }
