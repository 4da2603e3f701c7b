#!/bin/sh
# tools/e2e.sh [ARGUMENT...]
#
# Runs the packages of the end-to-end suite one after the other, all of them even
# when one fails, with more arguments for go test, and prints the slowest specs.
set -u

folder=$PWD/bin/log/e2e
rm -rf "$folder" && mkdir -p "$folder"
failed=
for package in $(go list -C e2e ./...); do
	path=e2e/${package#*/e2e/}
	name=$(basename "$path")
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
go run -C tools ./slowest "$folder"
[ -z "$failed" ] || { echo "these failed:$failed" && exit 1; }
