#!/bin/sh
# tools/image-twice.sh
#
# Clones the commit that is checked out into two folders of different length,
# makes the image in each, and fails when one cannot be made or their digests
# differ.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
commit=$(git rev-parse HEAD) # whoever commits meanwhile changes nothing

for clone in a/capstan another/folder/of/capstan; do
	git clone -q . "$folder/$clone"
	git -C "$folder/$clone" checkout -q "$commit"
	# Of a pipe only the last status would count.
	make --no-print-directory -C "$folder/$clone" image >"$folder/said" || { cat "$folder/said" && echo "no image was made in $clone" >&2 && exit 1; }
	digest=$(tail -n 1 "$folder/said")
	printf '%s\n' "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}' || { echo "the last line is no digest: $digest" >&2 && exit 1; }
	echo "$digest  $clone"
	[ -z "${first:-}" ] || [ "$digest" = "$first" ] || { echo 'the two digests differ' >&2 && exit 1; }
	first=$digest
done
