"""Fuzzes one parser of what comes from outside: libFuzzer with AddressSanitizer and UBSan.

    python3 tests/fuzz/run.py frame                  # 60 s, as `./gradlab test` does
    python3 tests/fuzz/run.py frame --seconds 7200

Begins with tests/fuzz/corpus/NAME and what earlier runs found (build/fuzz/corpus/NAME). A fault ends the
run; the input that shows it is kept, and its name is printed.
"""
import argparse
import fcntl
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/fuzz"
SEEDS = ROOT / "tests/fuzz/corpus"
TOOLCHAIN = ROOT / ".gradlab/toolchain"


def compiler():
    for line in TOOLCHAIN.read_text().splitlines():
        if line.startswith("COMPILER="):
            return line.partition("=")[2]
    sys.exit(f"{TOOLCHAIN} names no compiler: ./gradlab setup instructor")


def build(target):
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:  # the targets share one build
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (["cmake", "--preset", "fuzz", f"-DCMAKE_CXX_COMPILER={compiler()}"],
                        ["ninja", "-C", BUILD, target]):
            ran = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
            if ran.returncode != 0:
                sys.exit((ran.stdout + ran.stderr)[-4000:])
    return BUILD / "bin" / target


def main():
    names = sorted(path.stem.removesuffix("_fuzz") for path in SEEDS.parent.glob("*_fuzz.cpp"))
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("name", choices=names)
    options.add_argument("--seconds", type=int, default=60)
    given = options.parse_args()
    program = build(f"{given.name}_fuzz")
    found = BUILD / "corpus" / given.name
    found.mkdir(parents=True, exist_ok=True)
    command = [program, found, SEEDS / given.name, f"-max_total_time={given.seconds}",
               "-timeout=10", "-rss_limit_mb=1536", "-max_len=65536", "-print_final_stats=1",
               f"-artifact_prefix={found.parent}/{given.name}-fault-"]
    dictionary = SEEDS / f"{given.name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    ran = subprocess.run(command, cwd=BUILD, text=True, capture_output=True)
    told = ran.stderr.splitlines()
    print("\n".join(told[-60:] if ran.returncode else [line for line in told if "stat::" in line]))
    return 1 if ran.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
