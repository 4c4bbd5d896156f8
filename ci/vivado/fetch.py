"""Prints the folder of an environment with a pinned package, and installs it on first use.

    python3 fetch.py TOOLS PACKAGE VERSION ─► TOOLS/PACKAGE-VERSION

Folders, locks and markers are those of `sim/verilate/src/toolchain.rs` and `debian.rs`: whoever
comes first installs. Nothing is written outside TOOLS.
"""

import contextlib
import fcntl
import pathlib
import shutil
import subprocess
import sys


def run(step, *words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        sys.exit(f"{step}: {lines[-1]}")


@contextlib.contextmanager
def locked(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def debian_pip(tools):
    """The wheel of pip that Debian's packages install with, unpacked; it runs as it is."""
    folder = tools / "pip"
    root, marker = folder / "root", folder / "installed"
    with locked(tools / "pip.lock"):
        if not marker.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            for part in ("lists/partial", "archives/partial", "root"):
                (folder / part).mkdir(parents=True)
            apt = ["apt-get", "-qq", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1",
                   "-o", f"Dir::State::Lists={folder / 'lists'}",
                   "-o", f"Dir::Cache::Archives={folder / 'archives'}",
                   "-o", f"Dir::Cache={folder}"]
            run("apt-get update", *apt, "update")
            run("apt-get download", *apt, "download", "python3-pip-whl", cwd=folder / "archives")
            for archive in (folder / "archives").glob("*.deb"):
                run("dpkg-deb -x", "dpkg-deb", "-x", archive, root)
            marker.write_text("python3-pip-whl")
    return next((root / "usr/share/python-wheels").glob("pip-*.whl")) / "pip"


def has_pip():
    words = [sys.executable, "-c", "import ensurepip; ensurepip.version()"]
    return subprocess.run(words, capture_output=True).returncode == 0


def install(tools, venv, package, version):
    create = [sys.executable, "-m", "venv", "--clear"]
    if has_pip():
        run("python3 -m venv", *create, venv)
        pip = ["-m", "pip"]
    else:
        run("python3 -m venv", *create, "--without-pip", venv)
        pip = [debian_pip(tools)]
    run(f"pip install {package}=={version}", venv / "bin/python", *pip, "install", "--quiet",
        "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
        f"{package}=={version}")


def main(tools, package, version):
    tools = pathlib.Path(tools).absolute()
    venv = tools / f"{package}-{version}"
    marker = venv / "installed"
    if not marker.is_file():
        with locked(tools / f"{package}-{version}.lock"):
            if not marker.is_file():
                install(tools, venv, package, version)
                marker.write_text(version)
    print(venv)


main(*sys.argv[1:])
