#!/usr/bin/env bash
# tutorial.sh - what docs/tutorial.md asks root to do before it starts an SSH server.
set -euo pipefail
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
