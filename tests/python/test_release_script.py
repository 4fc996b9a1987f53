"""scripts/release refuses before it builds anything; versions of tools stand in two places."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that are committed or not yet, all committed."""
    folder = tmp_path / "clone"
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
            target.chmod((ROOT / name).stat().st_mode)
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")


def refusal(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [str(folder / "scripts/release"), *words], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert done.returncode == 1
    assert not (folder / "build").exists() or not list((folder / "build").glob("release-*"))
    return done.stderr


def version_of(folder: Path) -> str:
    text = (folder / "python/cachebisect/_version.py").read_text()
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_wrong_words_and_a_folder_that_exists(clone: Path, tmp_path: Path) -> None:
    assert "usage: scripts/release" in refusal(clone, "--now")
    assert "--out needs a folder" in refusal(clone, "--out")
    assert "exists: give another folder" in refusal(clone, "--out", str(tmp_path))


def test_what_is_not_committed(clone: Path) -> None:
    (clone / "README.md").write_text("changed")
    assert "not committed" in refusal(clone)


def test_a_tag_needs_its_section_and_a_new_version(clone: Path) -> None:
    version = version_of(clone)
    changes = clone / "CHANGELOG.md"
    others = re.sub(rf"^## \[{re.escape(version)}\].*\n", "", changes.read_text(), flags=re.M)
    changes.write_text(others + "\n")
    commit(clone)
    assert f"no section '## [{version}]" in refusal(clone, "--tag")
    changes.write_text(f"{others}\n## [{version}] - 2026-01-02\n")
    commit(clone)
    git(clone, "tag", f"v{version}")
    assert f"the tag v{version} exists: raise the version" in refusal(clone, "--tag")


def test_hooks_have_the_versions_of_the_scripts() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    scripts = (ROOT / "scripts/test-python").read_text()
    for tool in ("ruff", "mypy"):
        (version,) = set(re.findall(rf"{tool}==([\d.]+)", scripts))
        assert set(re.findall(rf"{tool}==([\d.]+)", hooks)) == {version}
    assert "clang-format==14." in hooks and "clang-format" in (ROOT / "scripts/lint").read_text()
