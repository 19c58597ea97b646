"""The users that a proton server knows: Cyrus SASL's configuration and password file, in a folder of their own."""

import subprocess
from pathlib import Path

CONFIG_NAME = "mobula-peer"


def write_users(folder: Path, users: dict[str, str], mechanisms: list[str]) -> None:
    """Make the configuration folder of a server that offers these mechanisms to these users."""
    database = folder / "users.sasldb"
    for user, password in users.items():
        subprocess.run(["saslpasswd2", "-c", "-p", "-f", str(database), user], input=password.encode(), check=True)
    (folder / f"{CONFIG_NAME}.conf").write_text(
        f"pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {database}\nmech_list: {' '.join(mechanisms)}\n"
    )
