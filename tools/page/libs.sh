#!/bin/sh
# tools/page/libs.sh
#
# Copies what the dashboard's page is drawn with from the npm packages that the lock
# file pins, as it is, with the licences that want to be beside it.
set -eu

lib=$PWD/cmd/capstan/dashboard/page/lib
mkdir -p bin/page "$lib"
cp tools/page/package.json tools/page/package-lock.json bin/page/
(cd bin/page && npm ci --ignore-scripts --no-audit --no-fund --silent)
rm -f "$lib"/*
take() { cp "bin/page/node_modules/$1" "$lib/$2"; }
take @dagrejs/dagre/dist/dagre.esm.js dagre.js
take @dagrejs/dagre/dist/dagre.esm.js.LEGAL.txt dagre.LICENSE.txt
take preact/dist/preact.mjs preact.js
take preact/LICENSE preact.LICENSE.txt
take htm/dist/htm.module.js htm.js
