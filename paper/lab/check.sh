#!/usr/bin/env bash
# check.sh [NODE_TEST_OPTION...]: checks the types of the lab's page, and tests it in Chromium.
#
# It installs Chromium, Node and the pinned packages where they are missing. CHROMIUM names another browser.
# LAB=build/lab tests the page with that folder's recordings, instead of the small ones that tests/fixture.js makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/setup/common.sh
. bench/setup/common.sh

skip() { echo "skipped: $*"; exit 0; }
packages=build/lab-check
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}" NODE_PATH="$PWD/$packages/node_modules"

wanted=()
[ -x "$CHROMIUM" ] || wanted+=(chromium fonts-dejavu-core)
command -v node >/dev/null || wanted+=(nodejs)
command -v npm >/dev/null || wanted+=(npm)
# apt_install ends its shell, and the other tests must go on.
[ ${#wanted[@]} -eq 0 ] || (apt_install "the tests of the lab's page" "${wanted[@]}") || true
[ -x "$CHROMIUM" ] || skip "the tests of the lab's page need Chromium, which cannot be installed here"
command -v npm >/dev/null || skip "the tests of the lab's page need node and npm, which cannot be installed here"

mkdir -p "$packages"
if ! cmp -s paper/lab/package-lock.json "$packages/installed.json"; then
    cp paper/lab/package.json paper/lab/package-lock.json "$packages"
    npm ci --prefix "$packages" --no-audit --no-fund --silent || skip "npm cannot install the packages of paper/lab/package.json"
    cp paper/lab/package-lock.json "$packages/installed.json"
fi

"$packages/node_modules/.bin/tsc" -p paper/lab/tsconfig.json
status=0
timeout 540 node --test --test-reporter=tap "$@" paper/lab/tests/lab.test.js >"$packages/log.tap" 2>&1 || status=$?
# Failures without Playwright's call logs, then what was measured, then one line that adds up.
grep -A 25 -E '^ +not ok' "$packages/log.tap" | grep -vE 'duration_ms|^ +at ' || true
grep -E '^# (the page|a step)' "$packages/log.tap" || true
awk '/^# pass / { pass = $3 } /^# (fail|cancelled) / { fail += $3 } END { printf "%d passed, %d failed\n", pass, fail }' "$packages/log.tap"
exit "$status"
