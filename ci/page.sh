#!/usr/bin/env bash
# Fetches what the page of `zeronic model` is tested with: Debian's chromium, and playwright-core and
# axe-core from npm into target/page. They take 370 MB of disk and need root, apt and npm.
# Usage: ci/page.sh; without the means it says what is missing and ends with 0: the test is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
    echo "skipped: no browser: $1" >&2
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || missing "node or npm"
if ! command -v chromium >/dev/null; then
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || missing "chromium, and no right to install it"
    apt-get update -qq || missing "apt-get update failed"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null ||
        missing "chromium is not to be had"
fi
modules=target/page
if [ ! -e $modules/node_modules/axe-core ]; then
    mkdir -p $modules
    # Versions that the test was written with; neither brings a browser.
    npm install --silent --no-audit --no-fund --no-save --prefix $modules \
        playwright-core@1 axe-core@4 || missing "npm install failed"
fi
echo "page: $(chromium --version), node $(node --version)"
