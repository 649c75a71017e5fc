"""Every refusal of the set-up, one named factory each: what happened, then what to do.

Exit status 2: something is asked of the person who runs it. 3: the set-up itself failed.
"""
from __future__ import annotations

NEEDED = "2.11"
LOG = ".gradlab/log/setup.log"


class SetupError(Exception):
    def __init__(self, kind: str, message: str, status: int = 3):
        super().__init__(message)
        self.kind, self.status = kind, status


def packages_needed(line: str, reason: str) -> SetupError:
    return SetupError("packages_needed", f"{reason} Install them, then run the same command again:"
                      f"\n  {line}", 2)


def package_unknown(names: list) -> SetupError:
    return SetupError("package_unknown", "These Debian packages are not offered by this system's "
                      f"package sources: {' '.join(names)}.\nDebian 12 has them all in main; check "
                      "/etc/apt/sources.list*, run apt-get update, then the same command again.", 2)


def packages_failed(tail: list) -> SetupError:
    told = [line for line in tail if line.startswith(("E:", "Err:"))] or tail[-3:]
    return SetupError("packages_failed", "apt-get could not install the packages:\n  "
                      + "\n  ".join(told[:5]) + f"\nWhole output: {LOG}. Mend that, then run the "
                      "same command again; it goes on from here.")


def no_such_torch(path: str) -> SetupError:
    return SetupError("no_such_torch", f"GRADLAB_TORCH names {path}, where there is no LibTorch: a "
                      "folder with include/ and lib/ is expected (the torch folder of a PyTorch "
                      "2.11), or the site-packages that holds it.\nName that folder, or unset "
                      "GRADLAB_TORCH and gradlab looks for one itself.", 2)


def wrong_version(path: str, version: str) -> SetupError:
    return SetupError("wrong_version", f"{path} holds LibTorch {version}; gradlab needs {NEEDED}.x, "
                      "the version its checks were proved with.\nUnset GRADLAB_TORCH and gradlab "
                      f"fetches its own, or name a PyTorch {NEEDED}.", 2)


def torch_damaged(path: str, what: str) -> SetupError:
    return SetupError("torch_damaged", f"The LibTorch in {path} is damaged: {what}.\nInstall that "
                      "PyTorch again, or unset GRADLAB_TORCH and gradlab fetches its own.", 2)


def wheel_missing(folder: str, names: list, command: str) -> SetupError:
    return SetupError("wheel_missing", f"GRADLAB_WHEELS names {folder}, where "
                      f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing.\nOn a "
                      f"machine with a network, in a copy of this folder, this fetches all of them:"
                      f"\n  {command}", 2)


def wheel_differs(path: str, got: str, want: str, command: str) -> SetupError:
    return SetupError("wheel_differs", f"{path} is not the pinned file, or it is damaged: its "
                      f"sha256 is\n  {got}, and should be\n  {want}. It is not used.\nFetch it "
                      f"again on a machine with a network:\n  {command}", 2)


def fetched_differs(tail: list) -> SetupError:
    return SetupError("fetched_differs", "What pip fetched for LibTorch is not the pinned file "
                      "(its sha256 differs), so it is not used. A proxy or a mirror may have "
                      f"changed it.\nWhole output: {LOG}. Run the same command again, or bring the "
                      "wheels by hand: README.md, Offline.")


def fetch_failed(tail: list) -> SetupError:
    told = [line for line in tail if line.startswith(("ERROR", "error"))] or tail[-2:]
    return SetupError("fetch_failed", "LibTorch could not be fetched with pip:\n  "
                      + "\n  ".join(line[:200] for line in told[:4])
                      + "\nIs there a network? Then run the same command again; what is done stays "
                      "done. Without one, set one of\n"
                      "  GRADLAB_WHEELS=FOLDER  the three wheels (README.md, Offline)\n"
                      f"  GRADLAB_TORCH=FOLDER   the torch folder of a PyTorch {NEEDED}")


def own_unusable(root: str, what: str) -> SetupError:
    return SetupError("own_unusable", f"LibTorch was unpacked into {root}, but does not serve: "
                      f"{what}.\nIt is built for Linux on x86-64 with glibc 2.28 or newer. "
                      f"Elsewhere set GRADLAB_TORCH to the torch folder of a PyTorch {NEEDED}.")


def unsupported_machine(machine: str) -> SetupError:
    return SetupError("unsupported_machine", f"gradlab fetches LibTorch for Linux on x86-64 only; "
                      f"this is {machine}.\nInstall PyTorch {NEEDED} for C++ yourself and set "
                      "GRADLAB_TORCH to its torch folder.", 2)


def too_little_space(folder: str, free: str, need: str) -> SetupError:
    return SetupError("too_little_space", f"Too little space in {folder}: {free} are free, the "
                      f"set-up needs {need}.\nMake room, then run the same command again.", 2)


def disk_full(folder: str) -> SetupError:
    return SetupError("disk_full", f"The disk that holds {folder} is full. Make room, then run the "
                      "same command again; what is done stays done.")


def not_possible(error: OSError) -> SetupError:
    return SetupError("not_possible", f"The set-up stopped: {error.strerror} "
                      f"({error.filename}).\nMend that, then run the same command again; what is "
                      "done stays done.")


def no_compiler() -> SetupError:
    return SetupError("no_compiler", "No C++ compiler found: neither clang++-19 nor g++. Install "
                      "one, then run the same command again:\n  sudo apt-get install clang-19", 2)


def tool_missing(tool: str) -> SetupError:
    return SetupError("tool_missing", f"{tool} is not installed. Install it (packages: "
                      "autograder/setup/packages.txt), then run the same command again.", 2)


def build_failed(stage: str, tail: list) -> SetupError:
    first = next((at for at, line in enumerate(tail)
                  if line.startswith(("CMake Error", "FAILED:"))), max(0, len(tail) - 12))
    return SetupError("build_failed", f"gradlab could not be {stage}:\n  "
                      + "\n  ".join(line[:160] for line in tail[first:first + 12])
                      + f"\nWhole output: {LOG}.")
