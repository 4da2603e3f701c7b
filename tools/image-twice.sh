#!/bin/sh
# tools/image-twice.sh
#
# Clones the commit that is checked out into two folders of different length,
# makes the image in each, and fails when their digests differ.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for clone in a/capstan another/folder/of/capstan; do
	git clone -q . "$folder/$clone"
	git -C "$folder/$clone" checkout -q "$(git rev-parse HEAD)"
	digest=$(make -C "$folder/$clone" image | tail -n 1)
	echo "$digest  $clone"
	[ -z "${first:-}" ] || [ "$digest" = "$first" ] || { echo 'the two digests differ' >&2 && exit 1; }
	first=$digest
done
