"""What the corpus finds on this machine: libraries, interpreters, CPUs; and programs that take CPUs away."""

import functools
import os
import pathlib
import shutil
import subprocess

PYTHON = "/usr/bin/python3"
LIBRARIES = pathlib.Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"
# What a caller has set for its own programs plays no part.
NOT_PASSED_ON = ("OMP_", "GOMP_", "KMP_", "ONEDNN_", "DNNL_", "MXNET_", "PITWALL_", "OPENBLAS_", "MKL_", "MALLOC_", "LD_")


@functools.cache
def can_import(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


@functools.cache
def openblas(build):
    """The folder of OpenBLAS' libblas.so.3, installed or fetched from Debian into the build folder; else None.
    It is not installed, so that programs which are to use the reference BLAS do."""
    installed = LIBRARIES / "openblas-pthread"
    if (installed / "libblas.so.3").exists():
        return installed
    folder = pathlib.Path(build) / "truth_openblas"
    unpacked = folder / str(installed).removeprefix("/")
    if not (unpacked / "libblas.so.3").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run("apt-get download libopenblas0-pthread && dpkg -x libopenblas0-pthread*.deb .", shell=True,
                       cwd=folder, capture_output=True, check=False)
    return unpacked if (unpacked / "libblas.so.3").exists() else None


def reference_blas():
    """The folders of the reference BLAS and LAPACK, as LD_LIBRARY_PATH takes them; else None."""
    folders = [LIBRARIES / "blas", LIBRARIES / "lapack"]
    return ":".join(map(str, folders)) if all(any(f.glob("lib*.so.3")) for f in folders) else None


def missing(need, build):
    """Why a need of a case is not met here, or None."""
    if need in ("numpy", "torch"):
        return None if can_import(need) else f"python3-{need} is not installed"
    if need == "openblas":
        return None if openblas(build) else "libopenblas0-pthread is not there"
    if need == "reference blas":
        return None if reference_blas() else "libblas3 is not installed"
    if need == "two cpus":
        return None if len(os.sched_getaffinity(0)) >= 2 else "one CPU"
    if need == "jpeg":
        return None if (pathlib.Path(build) / "bin/truth/image_input").exists() else "built without libjpeg-turbo"
    if need == "mpi":
        return None if shutil.which("mpirun") else "openmpi-bin is not installed"
    return f"unknown need {need}"


def warm(needs):
    """Brings into memory what a program loads, as on a machine that has run it before: else it waits for storage."""
    for module in ("numpy", "torch"):
        if module in needs:
            subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False)


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}


class Burners:
    """Programs that take the CPUs for as long as the with-block lasts."""

    def __init__(self, count):
        self.count = count
        self.running = []

    def __enter__(self):
        code = "import time\nend = time.time() + 120\nwhile time.time() < end: sum(range(100000))"
        self.running = [subprocess.Popen([PYTHON, "-c", code]) for _ in range(self.count)]
        return self

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()
