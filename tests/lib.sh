# shellcheck shell=bash
# lib.sh - what every test script includes first.
#
# It gives the script a private directory ($WORK), functions to say what holds
# (TAP), to wait for conditions, and to start private servers in $WORK. What
# it started ends with the script. A script runs alone, too:
#
#     tests/e2e/some.t

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=${BUILD:-$ROOT/build}
export ROOT BUILD
export LC_ALL=C.UTF-8 PATH="$BUILD:$PATH:/usr/sbin:/sbin"

# A test knows only what it is told: no settings of whoever runs it.
unset CDPATH IFS http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY \
    all_proxy NOTIFY_SOCKET SSH_AUTH_SOCK

for part in tap work build wait notify sql postgres http ssh workspace; do
    # shellcheck source=/dev/null
    . "$ROOT/tests/lib/$part.sh"
done
unset part

work_begin
trap work_end EXIT
