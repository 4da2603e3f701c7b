#!/bin/sh
# tools/conformance.sh [ARGUMENT...]
#
# Builds the suites of others that bin/conformance-runner runs with these arguments, as far as they are missing or older than what pins
# them, and runs it.
set -eu

suites=$(bin/conformance-runner -list "$@")
mkdir -p bin/conformance
echo "$suites" | while read -r name module package; do
	suite=bin/conformance/$name
	folder=e2e/conformance/suites/$module
	[ ! -x "$suite" ] || [ -n "$(find "$folder" -type f -newer "$suite")" ] || continue
	echo "building suite $name" >&2
	go test -C="$folder" -c -buildvcs=false -ldflags='-s -w' -o="$PWD/$suite" "$package"
done
exec bin/conformance-runner "$@"
