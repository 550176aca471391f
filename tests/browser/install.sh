#!/bin/sh
# Installs a browser for the test of the documentation page, where the system's packages have one.
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "no browser can be installed here; the browser test will say that it is skipped"
    exit 0
fi
(apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core) >/dev/null 2>&1 ||
    echo "the browser could not be installed; the browser test will say that it is skipped"
