"""A model reads nothing outside of the folders that were named for it."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.descriptors import descriptors_before, open_descriptors

from gemini_live_runtime.errors import WorkspaceError
from gemini_live_runtime.tools import folders
from gemini_live_runtime.tools.folders import MAX_LISTED, MAX_READ, Folder

pytestmark = pytest.mark.skipif(not folders.IS_SUPPORTED, reason="needs files opened by the descriptor of a folder")

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    place = tmp_path / "notes"
    (place / "sub").mkdir(parents=True)
    (place / "a.txt").write_text("hello\n")
    (place / "sub" / "b.txt").write_text("inner")
    return place


@pytest.fixture
def folder(root: Path) -> Folder:
    return Folder("notes", root)


def names(folder: Folder, path: str = "") -> list[str]:
    return [one["name"] for one in folder.list(path)["entries"]]


def test_files_and_folders_beneath_are_listed_and_read(folder: Folder) -> None:
    assert folder.list() == {
        "entries": [{"name": "a.txt", "kind": "file", "bytes": 6}, {"name": "sub", "kind": "folder"}]
    }
    assert folder.read("a.txt") == {"text": "hello\n", "size": 6}
    assert folder.read("./sub//b.txt") == {"text": "inner", "size": 5}


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret.txt",
        "sub/../../secret.txt",
        "sub/..",
        "/etc/passwd",
        "//etc/passwd",
        "~/.ssh/id_rsa",
        "..\\secret.txt",
        "a.txt\0.png",
        "\0",
        "a" * 2000,
        "/".join("a" * 60),
        "\ud800",
        "x" * 300,
    ],
)
def test_a_path_that_leads_out_is_refused_with_a_sentence(folder: Folder, path: str) -> None:
    for use in (folder.read, folder.list):
        with pytest.raises(WorkspaceError) as raised:
            use(path)
        assert SECRET not in str(raised.value)
        assert len(str(raised.value)) < 300
        assert str(raised.value).isprintable()


def test_a_path_without_end_is_refused_before_it_is_looked_up(folder: Folder) -> None:
    with pytest.raises(WorkspaceError, match=f"more than {folders.MAX_PARTS} parts"):
        folder.read("/".join("a" * (folders.MAX_PARTS + 1)))
    with pytest.raises(WorkspaceError) as raised:
        folder.read("a/" * (folders.MAX_PATH // 2) + "a")
    assert "parts" not in str(raised.value)


@given(st.text(st.sampled_from("./~a\\\0é\n"), max_size=20))
def test_no_path_reads_what_is_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    place = tmp_path_factory.getbasetemp() / "any"
    (place / "in" / "a").mkdir(parents=True, exist_ok=True)
    (place / "a").write_text(SECRET)
    folder = Folder("in", place / "in")
    for use in (folder.read, folder.list):
        with contextlib.suppress(WorkspaceError):
            assert SECRET not in str(use(path))


def test_links_are_neither_listed_nor_followed(folder: Folder, root: Path) -> None:
    (root / "to_file").symlink_to(root.parent / "secret.txt")
    (root / "to_folder").symlink_to(root.parent)
    (root / "to_inner").symlink_to("a.txt")
    (root / "loop").symlink_to("loop")
    assert names(folder) == ["a.txt", "sub"]
    for path in ("to_file", "to_inner", "loop", "to_folder/secret.txt"):
        with pytest.raises(WorkspaceError):
            folder.read(path)
    with pytest.raises(WorkspaceError, match="links are not followed"):
        folder.list("to_folder")


def test_a_folder_that_becomes_a_link_between_look_and_read_leads_nowhere(
    folder: Folder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text(SECRET)
    opened = os.open

    def swap(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        fd = opened(path, flags, mode, dir_fd=dir_fd)
        if path == "sub":
            (root / "sub").rename(root / "moved")
            (root / "sub").symlink_to(outside)
        return fd

    monkeypatch.setattr(os, "open", swap)
    assert folder.read("sub/b.txt")["text"] == "inner"
    with pytest.raises(WorkspaceError):
        folder.read("sub/b.txt")


def test_a_file_that_becomes_a_link_after_the_look_is_not_read(
    folder: Folder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = os.stat

    def swap(path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        status = looked(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == "a.txt":
            (root / "a.txt").unlink()
            (root / "a.txt").symlink_to(root.parent / "secret.txt")
        return status

    monkeypatch.setattr(os, "stat", swap)
    with pytest.raises(WorkspaceError, match="link"):
        folder.read("a.txt")


def test_hidden_files_are_neither_listed_nor_read(folder: Folder, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("token")
    assert names(folder) == ["a.txt", "sub"]
    for path in (".env", ".git/config", "sub/../.env"):
        with pytest.raises(WorkspaceError):
            folder.read(path)


def test_pipes_sockets_and_devices_are_neither_waited_for_nor_read(folder: Folder, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket")) if len(str(root)) < 90 else None
        assert names(folder) == ["a.txt", "sub"]
        for path in ("pipe", "socket", "sub"):
            with pytest.raises(WorkspaceError):
                folder.read(path)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_files_of_the_system_are_out_of_reach() -> None:
    with pytest.raises(WorkspaceError, match="another file system"):
        Folder("all", "/").read("proc/self/environ")
    for place in ("/proc/self", "/proc", "/sys", "/dev"):
        with pytest.raises(WorkspaceError, match="of the system's"):
            Folder("system", place).list()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_link_to_files_of_the_system_makes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "notes").symlink_to("/proc/self")
    with pytest.raises(WorkspaceError, match="of the system's"):
        Folder("notes", tmp_path / "notes").read("environ")


def test_a_large_file_is_read_part_by_part_without_loss(folder: Folder, root: Path) -> None:
    text = "".join(f"line {number} é€😀\n" for number in range(20_000))
    (root / "a.txt").write_text(text)
    whole, offset, sizes = "", 0, []
    while True:
        part = folder.read("a.txt", offset)
        sizes.append(len(part["text"].encode()))
        whole += part["text"]
        if "next_offset" not in part:
            break
        assert part["next_offset"] > offset
        offset = part["next_offset"]
    assert whole == text
    assert max(sizes) <= MAX_READ


@given(st.text(st.sampled_from("a é€😀"), max_size=400), st.integers(12, 40))
def test_parts_of_any_length_make_up_the_text(tmp_path_factory: pytest.TempPathFactory, text: str, size: int) -> None:
    place = tmp_path_factory.getbasetemp() / "parts"
    place.mkdir(exist_ok=True)
    (place / "t").write_text(text)
    whole, offset = "", 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "MAX_READ", size)
        patch.setattr(folders, "_WORD", 8)
        while True:
            part = Folder("parts", place).read("t", offset)
            whole += part["text"]
            if "next_offset" not in part:
                break
            assert part["next_offset"] > offset
            offset = part["next_offset"]
    assert whole == text


def test_a_file_of_many_gigabytes_costs_one_part(folder: Folder, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.write(b"begin\n" * 20_000)
        file.truncate(1 << 40)
    part = folder.read("huge")
    assert len(part["text"]) <= MAX_READ
    assert part["size"] == 1 << 40


def test_what_is_no_text_is_refused(folder: Folder, root: Path) -> None:
    for content in (b"\x00\x01", b"\xff\xfe", b"text\xc3"):
        (root / "a.txt").write_bytes(content)
        with pytest.raises(WorkspaceError, match="no file with text"):
            folder.read("a.txt")


def test_offsets_that_cannot_be_are_refused(folder: Folder) -> None:
    for offset in (-1, 7, 1 << 70):
        with pytest.raises(WorkspaceError, match="offset"):
            folder.read("a.txt", offset)
    assert folder.read("a.txt", 6) == {"text": "", "size": 6}


def test_a_secret_does_not_get_out_of_a_file(folder: Folder, root: Path) -> None:
    secret = "AIza" + "S" * 35
    (root / "a.txt").write_text(f"{'x' * 100}\nkey = {secret} end\n")
    assert "SSSS" not in folder.read("a.txt")["text"]
    for offset in range(100, 145):
        assert "SSSSSSSS" not in folder.read("a.txt", offset)["text"]


def test_a_secret_at_the_border_of_two_parts_does_not_get_out(folder: Folder, root: Path) -> None:
    secret = "AIza" + "S" * 35
    (root / "a.txt").write_text(f"{'x ' * ((MAX_READ - 20) // 2)}{secret} and more text")
    first = folder.read("a.txt")
    assert "AIzaS" not in first["text"]
    assert "SSSS" not in folder.read("a.txt", first["next_offset"])["text"]


def test_escape_sequences_in_a_file_are_removed(folder: Folder, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a\x1b[31mred\x1b]0;title\x07\xe2\x80\xaeb\n")
    assert folder.read("a.txt")["text"] == "aredb\n"


def test_names_that_a_terminal_would_act_on_are_left_out(folder: Folder, root: Path) -> None:
    for name in ("\x1b]0;x\x07", "two\nlines", "r\u202etl"):
        (root / name).write_text("x")
    if sys.platform == "linux":
        (root / os.fsdecode(b"\xff\xfe")).write_text("x")
    assert names(folder) == ["a.txt", "sub"]


def test_a_large_folder_is_cut(folder: Folder, root: Path) -> None:
    for number in range(MAX_LISTED + 5):
        (root / "sub" / f"n{number:04}").touch()
    listed = folder.list("sub")
    assert len(listed["entries"]) == MAX_LISTED
    assert listed["entries"][0]["name"] == "b.txt"
    assert listed["more"] == "6 further ones are left out"


def test_a_folder_without_end_is_not_looked_at_to_it(
    folder: Folder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_SCANNED", 4)
    for number in range(9):
        (root / "sub" / f"n{number}").touch()
    listed = folder.list("sub")
    assert len(listed["entries"]) == 4
    assert listed["more"] == "at least 0 further ones are left out"


def test_a_folder_that_does_not_exist_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="The folder notes cannot be opened") as raised:
        Folder("notes", tmp_path / "missing").list()
    assert "Create" in str(raised.value)


def test_a_file_that_cannot_be_read_is_a_sentence(folder: Folder, root: Path) -> None:
    with pytest.raises(WorkspaceError, match="does not exist"):
        folder.read("missing.txt")
    with pytest.raises(WorkspaceError, match="no folder"):
        folder.read("a.txt/b")
    with pytest.raises(WorkspaceError):
        folder.read("")


def test_no_descriptor_is_left_open(folder: Folder, root: Path) -> None:
    (root / "link").symlink_to("a.txt")
    before = descriptors_before()
    for path in ("a.txt", "sub/b.txt", "link", "missing/x", "sub", "a.txt/b"):
        for use in (folder.read, folder.list):
            with contextlib.suppress(WorkspaceError):
                use(path)
    assert open_descriptors() == before
