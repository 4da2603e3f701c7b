#!/bin/sh
# tools/fresh.sh COMMAND [ARGUMENT...]
#
# Runs a command that writes generated files and fails when it changed any file
# of the tree: what it had to write was stale. The new files stay, ready to be
# looked at and committed.
set -eu

sums() {
	find . \( -path ./.git -o -path ./bin \) -prune -o -type f -exec cksum {} + | LC_ALL=C sort -k 3
}

mkdir -p bin/log
sums >bin/log/before.sums
"$@"
sums >bin/log/after.sums
if cmp -s bin/log/before.sums bin/log/after.sums; then
	exit 0
fi
echo "These generated files were stale. They are new now; look at them and commit them:"
cat bin/log/before.sums bin/log/after.sums | LC_ALL=C sort | uniq -u | cut -d ' ' -f 3- | LC_ALL=C sort -u
exit 1
