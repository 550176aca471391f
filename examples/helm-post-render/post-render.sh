#!/bin/sh
# A post-renderer for Helm: reads what the chart made, writes what is installed.
exec ytterby -f - -f "$(dirname "$0")/overlays" --kubernetes=1.36
