#!/bin/sh
# tools/page/needs.sh
#
# Installs what `make page-libs test-page` needs beside Go, where it is missing: Debian's
# chromium, and npm.
set -eu

missing=
command -v chromium >/dev/null || missing="$missing chromium"
command -v npm >/dev/null || missing="$missing nodejs npm"
[ -n "$missing" ] || exit 0
echo "installing$missing"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
