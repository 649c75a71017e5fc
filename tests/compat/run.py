"""Builds the AMP library and its tests against an older LibTorch, and runs them.

    python3 tests/compat/run.py 2.4.1      # what `./gradlab test compat` runs, a version each

The wheels come from pip (800 MB a version) or from the folder GRADLAB_COMPAT_WHEELS; what is unpacked
and built stays in build/compat-VERSION. Older wheels have std::string of before C++11's ABI, so that
GoogleTest is built with it, too.
"""
import fnmatch
import os
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PINS = pathlib.Path(__file__).with_name("versions.txt")
GOOGLETEST = "/usr/src/googletest"
WANTED = ["torch/include/*", "torch/version.py", "torch/share/cmake/Torch/TorchConfig.cmake",
          "torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp*.so*",
          "nvidia/cuda_runtime/lib/*.so.*", "nvidia/cuda_cupti/lib/libcupti.so.*"]


def pins():
    lines = [line for line in PINS.read_text().splitlines() if line and not line.startswith("#")]
    return {line.partition(":")[0]: line.partition(":")[2].split() for line in lines}


def run(*words):
    command = [str(word) for word in words]
    print("+", " ".join(command), flush=True)
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        sys.exit(f"failed: {' '.join(command[:3])} ...")


def wheels(version, folder):
    given = os.environ.get("GRADLAB_COMPAT_WHEELS")
    source = pathlib.Path(given) if given else folder / "wheels"
    if not given:
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", source,
            *pins()[version])
    for pin in pins()[version]:
        name, _, number = pin.partition("==")
        found = sorted(source.glob(f"{name.replace('-', '_')}-{number}-*.whl"))
        if not found:
            sys.exit(f"{source} has no wheel of {pin}")
        yield found[0]


def unpack(version, folder):
    """The torch folder; unpacked once."""
    torch = folder / "libtorch/torch"
    if not (folder / "unpacked").exists():
        for wheel in wheels(version, folder):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist()
                         if any(fnmatch.fnmatch(name, pattern) for pattern in WANTED)]
                archive.extractall(folder / "libtorch", names)
        (folder / "unpacked").touch()
    return torch


def cuda_folder(folder):
    """libcudart and libcupti side by side, where libtorch_cpu.so is told to look."""
    together = folder / "libtorch/nvidia/cu12/lib"
    together.mkdir(parents=True, exist_ok=True)
    for part in ("cuda_runtime", "cuda_cupti"):
        for library in (folder / "libtorch/nvidia" / part / "lib").glob("*.so.*"):
            if not (together / library.name).exists():
                (together / library.name).symlink_to(library)


def configure(folder, torch):
    compiler = dict(line.split("=", 1) for line in
                    (ROOT / ".gradlab/toolchain").read_text().splitlines())["COMPILER"]
    config = (torch / "share/cmake/Torch/TorchConfig.cmake").read_text()
    flags = "-D_GLIBCXX_USE_CXX11_ABI=0" if "CXX11_ABI=0" in config else ""
    common = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={compiler}",
              f"-DCMAKE_CXX_FLAGS={flags}"]
    run("cmake", "-S", GOOGLETEST, "-B", folder / "googletest", *common,
        f"-DCMAKE_INSTALL_PREFIX={folder / 'installed'}")
    run("cmake", "--build", folder / "googletest", "--target", "install")
    run("cmake", "-S", ROOT, "-B", folder / "gradlab", *common, "-DGRADLAB_TESTS=ON",
        f"-DGRADLAB_TORCH={torch}", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}")


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in pins():
        sys.exit(f"{__doc__}\nversions: {', '.join(pins())}")
    version = sys.argv[1]
    folder = ROOT / f"build/compat-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    torch = unpack(version, folder)
    cuda_folder(folder)
    configure(folder, torch)
    run("cmake", "--build", folder / "gradlab", "--target", "amp_tests")
    run("ctest", "--test-dir", folder / "gradlab", "--output-on-failure", "-R", r"^amp\.",
        "-E", "outside")


if __name__ == "__main__":
    main()
