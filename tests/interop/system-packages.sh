#!/usr/bin/env bash
# Installs the system packages that the interop tests need and that are missing; quick when none is.
# Without the right to install them it names them; the tests that need them are then skipped and say so.
set -uo pipefail

# libsasl2-dev, libssl-dev, pkg-config: python-qpid-proton built with SASL and TLS. libsasl2-modules: its mechanisms.
# sasl2-bin: saslpasswd2, which writes the users a proton server knows. libqpid-proton11-dev: peers written in C.
packages=(libsasl2-dev libssl-dev pkg-config libsasl2-modules sasl2-bin libqpid-proton11-dev)

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)
    [ "$state" = installed ] || missing+=("$package")
done
# Node.js may have come from elsewhere than Debian: what counts is the command.
for command in nodejs:node npm:npm; do
    command -v "${command#*:}" >/dev/null || missing+=("${command%:*}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

say_what_is_missing() {
    echo "The interop tests need these packages, without which some are skipped: ${missing[*]}"
    echo "As root: apt-get install --no-install-recommends ${missing[*]}"
}

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say_what_is_missing
    exit 0
fi

echo "Installing the packages that the interop tests need: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null; }; then
    say_what_is_missing
fi
