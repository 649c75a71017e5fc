"""What `./gradlab bench [WORD] [--json]` measures, and the targets beside it. Figures, never
assertions: a slow or busy machine is told as such, and the exit status is 0 unless something could
not be measured at all."""
import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import amp
import edit
import grade
import labs
import log
import monitor
import peers
import stages
import start
import watch
from measure import Bench, CannotMeasure, machine

MEASURES = {
    "start": start.run,
    "edit": edit.run,
    "watch": watch.run,
    "labs": labs.run,
    "stages": stages.run,
    "grade": grade.run,
    "usual_way": peers.usual_way,
    "pytest": peers.pytest_way,
    "amp": amp.run,
    "monitor": monitor.run,
    "log": log.run,
}


def shown(value, unit):
    if unit == "ms":
        return f"{value:.0f} ms"
    if unit == "us":
        return f"{value:.1f} us"
    if unit == "s":
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    if unit == "%":
        return f"{value:.1f} %"
    if unit == "MiB":
        return f"{value:.0f} MiB"
    return f"{value:.2f}{unit}" if unit == "x" else f"{value:.0f} {unit}"


def print_machine(about):
    load = ", ".join(f"{part:.2f}" for part in about["load"])
    print(f"{about['cores']} cores, {about['cpu']}, {about['memory_mib']} MiB, load {load}")
    if not about["quiet"]:
        print(f"This machine is not quiet: {about['busy']:.0%} of it was in use before the start. "
              "Times come out too long;\nratios of figures from one run still count.")


def print_figure(figure):
    target = f"{figure.target[0]} {shown(figure.target[1], figure.unit)}" if figure.target else ""
    mark = {True: "ok", False: "MISSED", None: ""}[figure.ok]
    print(f"{figure.measure:<10} {figure.name:<48}{shown(figure.value, figure.unit):>14}"
          f"  {target:<15} {mark}".rstrip(), flush=True)
    if figure.note:
        print(f"{'':<11}{figure.note}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./gradlab bench")
    parser.add_argument("word", nargs="?", default="",
                        help=f"only the measurements whose name holds it: {', '.join(MEASURES)}")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--short", action="store_true", help="few repetitions: does it run at all")
    options = parser.parse_args()
    chosen = [name for name in MEASURES if options.word in name]
    if not chosen:
        parser.error(f"no measurement's name holds '{options.word}'; there are "
                     f"{', '.join(MEASURES)}")
    about, figures, skipped, failed = machine(), [], [], False
    if not options.json:
        print_machine(about)
    with tempfile.TemporaryDirectory(prefix="gradlab-bench-") as folder:
        bench = Bench(Path(__file__).resolve().parents[2], Path(folder), options.short)
        for name in chosen:
            try:
                for figure in MEASURES[name](bench):
                    figures.append(figure)
                    if not options.json:
                        print_figure(figure)
            except CannotMeasure as error:
                failed = failed or not error.expected
                skipped.append({"measure": name, "why": str(error)})
                if not options.json:
                    print(f"{name:<10} not measured: {error}", flush=True)
    if options.json:
        print(json.dumps({"machine": about, "skipped": skipped,
                          "figures": [asdict(figure) for figure in figures]}, indent=2))
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
