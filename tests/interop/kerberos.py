"""A Kerberos realm of a test's own: its KDC, a principal for the router in a keytab, and users with tickets."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

from bench.free_ports import free_port
from tests.waiting import eventually

REALM = "MOBULA.TEST"
HOST = "localhost"
WITHIN_S = 30.0
COMMANDS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))

CLIENT_FILE = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 ignore_acceptor_hostname = true
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
"""
SERVER_FILE = """[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principals
  key_stash_file = {folder}/stash
 }}
"""


def absence() -> str | None:
    """Return why there can be no realm here, or None."""
    missing = [name for name in COMMANDS if _path(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed (krb5-kdc, krb5-admin-server, krb5-user)"
    return None


class Realm:
    """Runs from its start to its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        about = {"realm": REALM, "port": self._port, "folder": folder}
        (folder / "krb5.conf").write_text(CLIENT_FILE.format(**about))
        (folder / "kdc.conf").write_text(SERVER_FILE.format(**about))
        self.environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5_KTNAME": f"FILE:{folder / 'keytab'}",
            "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
            "KRB5RCACHETYPE": "none",
        }
        """For the router and for clients."""
        self._run("kdb5_util", "create", "-r", REALM, "-s", "-P", "master")
        self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey amqp/{HOST}")
        self.put_key()
        self._process = subprocess.Popen([str(_path("krb5kdc")), "-n", "-r", REALM], env=self._variables())
        self._await_start()

    def log_in(self, name: str) -> None:
        """Add a user, and get a ticket for it."""
        self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -pw secret {name}")
        self._run("kinit", name, given="secret\n")

    def log_out(self) -> None:
        """Do without the ticket."""
        (self._folder / "tickets").unlink(missing_ok=True)

    def change_key(self) -> None:
        """Give the router's principal another key, which its keytab has not."""
        self._run("kadmin.local", "-r", REALM, "-q", f"cpw -randkey amqp/{HOST}")

    def put_key(self) -> None:
        """Add the key of now to the keytab; there is another one then."""
        self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {self._folder / 'keytab'} amqp/{HOST}")

    def close(self) -> None:
        """End."""
        self._process.terminate()
        self._process.wait(WITHIN_S)

    def _await_start(self) -> None:
        eventually(self._answers, "the KDC answers", WITHIN_S)

    def _answers(self) -> bool:
        assert self._process.poll() is None, "the KDC has ended"
        try:
            socket.create_connection(("127.0.0.1", self._port), WITHIN_S).close()
        except ConnectionRefusedError:
            return False
        return True

    def _run(self, name: str, *arguments: str, given: str = "") -> None:
        done = subprocess.run(
            [str(_path(name)), *arguments],
            env=self._variables(),
            input=given,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
        )
        assert done.returncode == 0, done.stderr

    def _variables(self) -> dict[str, str]:
        return {**os.environ, **self.environment}


def _path(name: str) -> str | None:
    return shutil.which(name, path=_FOLDERS)
