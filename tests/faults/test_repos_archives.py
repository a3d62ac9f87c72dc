"""Archives that are made to harm: refused with a name, or that member is listed; nothing escapes."""

import gzip
import io
import os
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

import pytest
from tests.unit.repos.conftest import Place

from fingerpost.errors import RepositoryError, RepositoryRefusedError
from fingerpost.repos import archive
from fingerpost.testing.github import GithubServer, packed

MOST_RSS = 256 * 2**20


def member(name, content=b"", kind=tarfile.REGTYPE, **fields):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def fetched(tmp_path, raw, **more):
    """Fetch a repository whose archive this is."""
    with GithubServer({}) as server:
        server.push("acme/mill", {"README.md": "x"}, archive=raw)
        mill = Place(tmp_path / "mirror", "acme/mill", server.url, **more)
        mill.fetch()
    return mill


GOOD = member("top/README.md", b"# Mill\n")


@pytest.mark.parametrize(
    "name",
    [
        "top/../../escaped.md",
        "../escaped.md",
        "/tmp/escaped.md",
        "top//escaped.md",
        "top/./escaped.md",
        "top/docs/../escaped.md",
        "top/..\\escaped.md",
        "top/.git/escaped.md",
        "top/.GIT/hooks/escaped.md",
        "top/" + "a" * 300 + ".md",
        "top/" + "d/" * 600 + "escaped.md",
        "top/nul\x01.md",
        "top/c:escaped.md",
    ],
)
def test_a_member_that_leads_elsewhere_is_listed_and_written_nowhere(tmp_path, name):
    before = set(Path(tmp_path).rglob("*"))
    mill = fetched(tmp_path, packed([GOOD, member(name, b"escaped")]))
    assert mill.files == {"README.md": "# Mill\n"}
    assert len(mill.state.skipped) == 1
    assert mill.left_behind == []
    found = set(Path(tmp_path).rglob("*")) - before
    assert not [one for one in found if one.is_file() and one.read_bytes() == b"escaped"]
    assert not Path("/tmp/escaped.md").exists()


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (tarfile.SYMTYPE, "/etc"),
        (tarfile.SYMTYPE, "../../.."),
        (tarfile.LNKTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, "top/README.md"),
    ],
)
def test_a_link_and_a_file_below_it_lead_nowhere(tmp_path, kind, target):
    link = member("top/docs", kind=kind, linkname=target)
    mill = fetched(
        tmp_path,
        packed(
            [
                GOOD,
                link,
                member("top/docs/passwd.md", b"mine\n"),
                member("top/l.md", kind=kind, linkname=target),
            ]
        ),
    )
    assert mill.files == {"README.md": "# Mill\n", "docs/passwd.md": "mine\n"}
    assert mill.skipped["l.md"] in ("symlink", "not-regular")
    folder = mill.mirror.snapshot(mill.state.commit)
    assert not [one for one in folder.rglob("*") if one.is_symlink()]


@pytest.mark.parametrize(
    "kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE]
)
def test_a_device_or_a_pipe_is_no_document(tmp_path, kind):
    mill = fetched(tmp_path, packed([GOOD, member("top/device.md", kind=kind)]))
    assert "device.md" not in mill.files or mill.files["device.md"] == ""
    for one in mill.mirror.folder.rglob("*"):
        assert one.is_file() or one.is_dir()


def test_of_two_members_of_one_name_the_first_counts_and_the_second_is_listed(tmp_path):
    mill = fetched(tmp_path, packed([GOOD, member("top/a.md", b"1\n"), member("top/a.md", b"2\n")]))
    assert mill.files["a.md"] == "1\n"
    assert mill.skipped == {"a.md": "not-regular"}


def test_a_name_that_is_a_file_and_a_folder_costs_one_of_them(tmp_path):
    mill = fetched(
        tmp_path, packed([GOOD, member("top/a.md", b"1\n"), member("top/a.md/b.md", b"2\n")])
    )
    assert mill.files == {"README.md": "# Mill\n", "a.md": "1\n"}
    assert mill.skipped == {"a.md/b.md": "not-regular"}


def test_a_long_name_that_replaces_the_checked_one_is_checked_itself(tmp_path):
    deep = "top/" + "d" * 120 + "/../../../escaped.md"  # longer than a header: comes as an extra
    mill = fetched(tmp_path, packed([GOOD, member(deep, b"escaped")]))
    assert mill.files == {"README.md": "# Mill\n"}


def bomb(n_bytes):
    """Return an archive of a few kB whose one document unpacks to this many bytes."""
    info, _ = member("top/bomb.md")
    info.size = n_bytes
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(info.tobuf())]
    block = b"\0" * 2**20
    parts += [packer.compress(block) for _ in range(n_bytes // len(block))]
    return b"".join([*parts, packer.compress(b"\0" * 1024), packer.flush()])


def empty_members(n_members):
    info, _ = member("top/e.md")
    one = info.tobuf()
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    parts = [packer.compress(one * 1000) for _ in range(n_members // 1000)]
    return b"".join([*parts, packer.compress(b"\0" * 1024), packer.flush()])


def huge_header():
    """Return an archive with an extended header that claims, and has, a gigabyte."""
    info = tarfile.TarInfo("header")
    info.type = tarfile.XHDTYPE
    info.size = 2**30
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    parts = [packer.compress(info.tobuf())]
    parts += [packer.compress(b"a" * 2**20) for _ in range(64)]
    return b"".join([*parts, packer.flush()])


def headers_in_a_row():
    raw = io.BytesIO()
    body = b"30 comment=" + b"a" * 18 + b"\n"
    info = tarfile.TarInfo("header")
    info.type = tarfile.XHDTYPE
    info.size = len(body)
    for _ in range(5000):
        raw.write(info.tobuf() + body.ljust(512, b"\0"))
    return gzip.compress(raw.getvalue())


def global_headers():
    raw = io.BytesIO()
    for n in range(20_000):
        text = f"path{n}={'a' * 400}\n"
        body = f"{len(text) + 4} {text}".encode()
        info = tarfile.TarInfo("header")
        info.type = tarfile.XGLTYPE
        info.size = len(body)
        raw.write(info.tobuf() + body.ljust(512, b"\0"))
        raw.write(tarfile.TarInfo(f"top/{n}.md").tobuf())
    return gzip.compress(raw.getvalue(), 1)


def sparse():
    info, _ = member("top/sparse.md", b"", tarfile.GNUTYPE_SPARSE)
    info.size = 512
    raw = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    raw[386:398] = b"00000000000\0"
    raw[398:410] = b"00000001000\0"
    raw[483:495] = b"77777777777\0"
    raw[148:156] = b"        "
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    return gzip.compress(bytes(raw) + b"a" * 512 + b"\0" * 1024)


HOSTILE = {
    "bomb": lambda: bomb(2**30),
    "million members": lambda: empty_members(1_000_000),
    "huge header": huge_header,
    "headers in a row": headers_in_a_row,
    "no tar": lambda: gzip.compress(b"no archive at all" * 100),
    "no gzip": lambda: b"PK\3\4 this is a zip",
    "nothing": lambda: b"",
    "negative size": lambda: gzip.compress(
        tarfile.TarInfo("top/a.md").tobuf().replace(b"00000000000", b"-0000000001", 1)
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_archive_that_is_made_to_harm_is_refused_with_a_name(tmp_path, what):
    with pytest.raises(RepositoryError) as caught:
        fetched(tmp_path, HOSTILE[what]())
    assert str(caught.value).startswith("github:acme/mill: ")
    assert [one.name for one in (tmp_path / "mirror").iterdir()] == ["state.json"]


@pytest.mark.parametrize("make", [global_headers, sparse])
def test_odd_headers_take_no_memory_and_no_other_file_with_them(tmp_path, make):
    mill = fetched(tmp_path, make(), max_files=10)
    assert all(text == "" for text in mill.files.values())


PEAK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.faults.test_repos_archives import HOSTILE
place = Path({place!r})
place.write_bytes(HOSTILE[{what!r}]())
import os
pid = os.fork()
if pid == 0:
    from fingerpost.errors import RepositoryError
    from fingerpost.repos.archive import list_archive
    try:
        for _ in list_archive(place): pass
    except RepositoryError as error:
        print(type(error).__name__)
    sys.stdout.flush()
    os._exit(0)
_, _, used = os.wait4(pid, 0)
print(used.ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["bomb", "million members", "huge header", "headers in a row"])
def test_reading_a_hostile_archive_stays_below_256_mib(tmp_path, what):
    root = str(Path(__file__).parents[2])
    code = PEAK.format(root=root, place=str(tmp_path / "a.tar.gz"), what=what)
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    ).stdout.split()
    assert said[0] in ("RepositoryRefusedError", "RepositoryUnavailableError")
    assert int(said[1]) < MOST_RSS


def test_what_is_allowed_to_unpack_is_told_by_size_and_ratio(tmp_path):
    place = tmp_path / "a.tar.gz"
    place.write_bytes(bomb(2**27))
    limit = max(archive._UNSUSPICIOUS, archive.MAX_RATIO * place.stat().st_size)
    with pytest.raises(RepositoryRefusedError, match=f"more than {limit:,} bytes"):
        list(archive.list_archive(place))
