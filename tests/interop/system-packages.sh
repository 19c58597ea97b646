#!/usr/bin/env bash
# Installs the system packages that `make test` needs and that are missing; quick when none is.
# Without the right to install them it names them; the tests that need them are then skipped and say so.
set -uo pipefail

# libsasl2-dev, libssl-dev, pkg-config: python-qpid-proton built with SASL and TLS. libsasl2-modules: its mechanisms.
# sasl2-bin: saslpasswd2, which writes the users a proton server knows. libqpid-proton11-dev: peers written in C.
# krb5-*, libsasl2-modules-gssapi-mit: a Kerberos realm of a test's own, and GSSAPI.
# rabbitmq-server: a broker under the driver for oslo.messaging, in its tests and in `python -m bench oslo`; and a
# broker behind routers, in tests of links to it, in `make demo-brokers` and in `python -m bench brokers`.
# prometheus: promtool, which checks metrics and the alert rules in configs/monitoring.
packages=(libsasl2-dev libssl-dev pkg-config libsasl2-modules sasl2-bin libqpid-proton11-dev rabbitmq-server prometheus
    krb5-kdc krb5-admin-server krb5-user libsasl2-modules-gssapi-mit)

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)
    [ "$state" = installed ] || missing+=("$package")
done
# Node.js may have come from elsewhere than Debian: what counts is the command.
for command in nodejs:node npm:npm chromium:chromium; do
    command -v "${command#*:}" >/dev/null || missing+=("${command%:*}")
done
# The compiled form is tested too.
if [ "${ROUTERD_CYTHON:-auto}" != off ]; then
    include=$("${PYTHON:-python3}" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    compiler=${CC:-gcc}
    command -v "${compiler%% *}" >/dev/null || missing+=(gcc libc6-dev)
    [ -f "$include/Python.h" ] || missing+=(python3-dev)
fi
[ ${#missing[@]} -gt 0 ] || exit 0

say_what_is_missing() {
    echo "The tests need these packages, without which some are skipped: ${missing[*]}"
    echo "As root: apt-get install --no-install-recommends ${missing[*]}"
}

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say_what_is_missing
    exit 0
fi

echo "Installing the packages that the tests need: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# No service is to run for this, least of all a broker at the port that `make run` wants: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy
    trap 'rm -f $policy' EXIT
fi
if ! { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null; }; then
    say_what_is_missing
fi
case " ${missing[*]} " in
    *" prometheus "*) ! command -v systemctl >/dev/null || systemctl disable --quiet prometheus || true ;;
esac
case " ${missing[*]} " in
    *" rabbitmq-server "*) ! command -v systemctl >/dev/null || systemctl disable --quiet rabbitmq-server || true ;;
esac
# What was built without a compiler is built again, now that there is one.
case " ${missing[*]} " in
    *" gcc "* | *" python3-dev "*) rm -f .venv/.built-* ;;
esac
