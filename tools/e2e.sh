#!/bin/sh
# tools/e2e.sh [ARGUMENT...]
#
# Runs the packages of the end-to-end suite, BESIDE of them (2) beside each other, since
# they mostly wait, all of them even when one fails, with more arguments for go test.
# Prints the slowest specs and what failed, and compares what operator and checker
# did in them with what deploy lets them do.
set -u

folder=$PWD/bin/log/e2e
rm -rf "$folder" && mkdir -p "$folder"
go list -C e2e ./... | xargs -P "${BESIDE:-2}" -I PACKAGE tools/suite.sh "$folder" PACKAGE "$@"
failed=$(cat "$folder"/*.failed 2>/dev/null)
go run -C tools ./summary "$folder"
# What operator and checker may do is compared with what they did in all suites.
go run -C e2e ./rights "$folder/uses" || failed="$failed e2e/rights"
[ -z "$failed" ] || { echo "these failed:" $failed && exit 1; }
