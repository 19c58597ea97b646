"""Files are served from below one folder, as what they are, and never from elsewhere."""

import gzip
import os
from pathlib import Path

import pytest

from routerd.io.http import files as files_of_http
from routerd.io.http.files import FileFolder, takes_gzip
from routerd.io.http.requests import Answer, Request

TEXT = b"body { color: black }\n" * 100


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files, beside one that is nobody's business."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "index.html").write_bytes(b"<!doctype html>")
    (root / "sub/index.html").write_bytes(b"<p>sub")
    (root / "style.css").write_bytes(TEXT)
    (root / "with space.txt").write_bytes(b"space")
    (root / "data.unknown").write_bytes(b"\0" * 1000)
    (root / ".hidden").write_bytes(b"hidden")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "up").symlink_to(tmp_path)
    (root / "inside").symlink_to(root / "index.html")
    os.mkfifo(root / "pipe")
    return root


def get(root: Path, path: str, **headers: str) -> Answer:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return FileFolder(str(root)).answer(Request("GET", path, names))


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("/", b"<!doctype html>", "text/html; charset=utf-8"),
        ("/?a=b", b"<!doctype html>", "text/html; charset=utf-8"),
        ("http://r/index.html", b"<!doctype html>", "text/html; charset=utf-8"),
        ("/sub", b"<p>sub", "text/html; charset=utf-8"),
        ("/sub/", b"<p>sub", "text/html; charset=utf-8"),
        ("//sub//", b"<p>sub", "text/html; charset=utf-8"),
        ("/style.css", TEXT, "text/css; charset=utf-8"),
        ("/with%20space.txt", b"space", "text/plain; charset=utf-8"),
        ("/data.unknown", b"\0" * 1000, "application/octet-stream"),
        ("/inside", b"<!doctype html>", "application/octet-stream"),
    ],
)
def test_a_file_is_served_as_what_it_is(root: Path, path: str, body: bytes, content_type: str) -> None:
    answer = get(root, path)
    assert (answer.status, answer.body, answer.content_type) == (200, body, content_type)


@pytest.mark.parametrize(
    "path",
    [
        *("/../secret", "/%2e%2e/secret", "/sub/../../secret", "/sub/%2e%2e%2f%2e%2e%2fsecret", "/..%2fsecret"),
        *("/out", "/up/secret", "/up/root/../secret", "/.hidden", "/missing", "/pipe", "/sub/missing/"),
        *("/%00", "/index.html%00.txt", "/%ff", "*", "http://[", f"/{'x' * 2000}", "/index.html/more"),
    ],
)
def test_nothing_else_is_served(root: Path, path: str) -> None:
    answer = get(root, path)
    assert (answer.status, answer.body) == (404, b"There is no such page here.\n")


def test_a_folder_without_an_index_has_no_page(tmp_path: Path) -> None:
    assert get(tmp_path, "/").status == 404


def test_a_link_that_is_put_into_a_files_place_leads_nowhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What was looked at first was right.
    real = os.path.realpath
    lies = [str(root / "index.html")]
    monkeypatch.setattr(
        files_of_http.os.path,
        "realpath",
        lambda path: lies.pop() if lies and str(path).endswith("out") else real(path),
    )
    assert get(root, "/out").status == 404


def test_a_client_that_has_a_file_is_not_sent_it_again(root: Path) -> None:
    tag = get(root, "/style.css").headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = get(root, "/style.css", if_none_match=known)
        assert (again.status, again.body, again.content_type) == (304, b"", None)
        assert again.headers == {"Cache-Control": "no-cache", "Vary": "Accept-Encoding", "ETag": tag if known else ""}
    assert get(root, "/style.css", if_none_match='"other"').status == 200
    os.utime(root / "style.css", ns=(1, 1))
    assert get(root, "/style.css", if_none_match=tag).status == 200


def test_a_text_is_compressed_for_who_takes_that(root: Path) -> None:
    plain, packed = get(root, "/style.css"), get(root, "/style.css", accept_encoding="br, gzip")
    assert gzip.decompress(packed.body) == TEXT
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert packed.headers["ETag"] != plain.headers["ETag"]
    assert "Content-Encoding" not in plain.headers
    again = get(root, "/style.css", accept_encoding="gzip", if_none_match=packed.headers["ETag"])
    assert (again.status, "Content-Encoding" in again.headers) == (304, False)
    # Small ones, and those that are no text, are sent as they are.
    for path in ("/", "/data.unknown"):
        assert "Content-Encoding" not in get(root, path, accept_encoding="gzip").headers


def test_what_is_compressed_is_kept_up_to_a_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = FileFolder(str(root))
    (root / "other.css").write_bytes(TEXT[::-1])
    packed: list[int] = []
    real = gzip.compress
    monkeypatch.setattr(files_of_http.gzip, "compress", lambda octets, mtime: packed.append(1) or real(octets, mtime=0))

    def ask(path: str) -> None:
        assert folder.answer(Request("GET", path, {"accept-encoding": "gzip"})).status == 200

    for _ in range(3):
        ask("/style.css")
    assert len(packed) == 1
    monkeypatch.setattr(files_of_http, "COMPRESSED_MAX", 100)
    for path in ("/other.css", "/style.css", "/other.css"):
        ask(path)
    assert len(packed) == 4


def test_a_file_that_is_too_large_is_not_served(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_of_http, "FILE_MAX", len(TEXT))
    assert get(root, "/style.css").status == 200
    monkeypatch.setattr(files_of_http, "FILE_MAX", len(TEXT) - 1)
    assert get(root, "/style.css").status == 404


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*", True),
        ("*, gzip;q=0", False),
        ("br", False),
        ("gzip;q=x", False),
    ],
)
def test_a_client_says_whether_it_takes_gzip(accepted: str, takes: bool) -> None:
    assert takes_gzip(Request("GET", "/", {"accept-encoding": accepted})) is takes
