#!/bin/sh
# tools/e2e.sh [ARGUMENT...]
#
# Runs the packages of the end-to-end suite one after the other, all of them even
# when one fails, with more arguments for go test, prints the slowest specs and what
# failed, and compares what operator and checker did in them with what deploy lets
# them do.
set -u

folder=$PWD/bin/log/e2e
rm -rf "$folder" && mkdir -p "$folder"
failed=
for package in $(go list -C e2e ./...); do
	path=e2e/${package#*/e2e/}
	name=$(basename "$path")
	export E2E_USES="$folder/uses/$name"
	# Only suites of ginkgo know its flags.
	report=
	if grep -q RunSpecs "$path"/*_test.go 2>/dev/null; then
		report="-args -ginkgo.json-report=$folder/$name.json"
	fi
	{ go test -C e2e -v -count=1 -timeout 20m "$@" "$package" $report || touch "$folder/failed"; } 2>&1 | tee "$folder/$name.log"
	if [ -e "$folder/failed" ]; then
		rm "$folder/failed"
		failed="$failed $package"
	fi
done
go run -C tools ./summary "$folder"
# What operator and checker may do is compared with what they did in all suites.
go run -C e2e ./rights "$folder/uses" || failed="$failed e2e/rights"
[ -z "$failed" ] || { echo "these failed:$failed" && exit 1; }
