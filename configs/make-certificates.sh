#!/usr/bin/env bash
# Makes what secured.conf needs, to try it: `configs/make-certificates.sh [FOLDER]`, `tls` where nothing is said. There
# are an authority (ca.crt), a certificate of the router for this host (router.crt) and one of a client called
# `collector` (client.crt), with their keys. Who has ca.key can make more: in earnest, an authority is kept elsewhere.
set -euo pipefail

folder=${1:-tls}
umask 077
mkdir -p "$folder"
cd "$folder"
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)

openssl req -x509 "${key[@]}" -subj "/CN=Authority" -days 365 -keyout ca.key -out ca.crt 2>/dev/null

issue() {
    local name=$1 subject=$2 extensions=$3
    openssl req "${key[@]}" -subj "$subject" -keyout "$name.key" -out "$name.csr" 2>/dev/null
    openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 \
        -extfile <(printf '%s\n' "$extensions") -out "$name.crt" 2>/dev/null
    rm "$name.csr"
}

issue router "/CN=$(hostname)" "subjectAltName=DNS:$(hostname),DNS:localhost,IP:127.0.0.1
extendedKeyUsage=serverAuth"
issue client "/O=Example/CN=collector" "extendedKeyUsage=clientAuth"
echo "$PWD: ca.crt router.crt client.crt, and their keys"
