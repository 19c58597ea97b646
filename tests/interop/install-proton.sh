#!/usr/bin/env bash
# Installs python-qpid-proton for the Python named as argument, built from source where Cyrus SASL's headers are
# present: a ready-made wheel was built without them and knows no SCRAM. Quick when there is nothing to do.
set -euo pipefail

python=$1
version=$(sed -n 's/^python-qpid-proton==//p' constraints.txt)
install=("$python" -m pip --disable-pip-version-check install --quiet --constraint constraints.txt)

is_installed() {
    "$python" - "$version" "$1" <<'PYTHON' 2>/dev/null
import importlib.metadata, sys
import proton
right_version = importlib.metadata.version("python-qpid-proton") == sys.argv[1]
sys.exit(not (right_version and (proton.SASL.extended() or sys.argv[2] == "any")))
PYTHON
}

can_compile() {
    "$python" -c 'import sys; from compiling import build_ext; sys.exit(build_ext.compiler_fault())' 2>/dev/null
}

if pkg-config --exists libsasl2 openssl 2>/dev/null && can_compile; then
    is_installed with-sasl && exit 0
    echo "Building python-qpid-proton $version with SASL (once; it takes a moment)"
    "${install[@]}" setuptools cffi
    # A cached wheel may have been built before the headers were there.
    "${install[@]}" --no-build-isolation --no-deps --no-cache-dir --force-reinstall \
        --no-binary python-qpid-proton python-qpid-proton
else
    is_installed any && exit 0
    "${install[@]}" python-qpid-proton || echo "python-qpid-proton cannot be installed: the tests with it are skipped"
fi
