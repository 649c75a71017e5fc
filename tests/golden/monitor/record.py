"""Runs ormas-monitor over the inputs in each trace and writes down what it tells.

    python monitor/record.py            # the traces again, in place
    python monitor/record.py --check    # writes nothing; says which traces it now answers otherwise

Takes torch and ormas-monitor 0.2.3 (another release only with --into); exits with 77 where one of
them is not installed. To add a trace, add a file with its inputs.
"""

import importlib.util
import json
import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

SKIPPED = 77
VERSION = "0.2.3"
INPUTS = ("loss", "gain", "inject", "unscale_called")
# Not about training, or not the same in two runs.
OTHER_EVENTS = {"run_start", "structure", "manifest", "run_end"}
OTHER_FIELDS = {"seq", "time", "event", "step", "message", "prev", "hash"}


def strict(value):
    """Without the numbers that JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: strict(one) for key, one in value.items()}
    return [strict(one) for one in value] if isinstance(value, (list, tuple)) else value


class Run:
    """A trace's model, optimizer, scaler and monitor; what the monitor tells gathers in `told`."""

    def __init__(self, trace, folder):
        self.layers = trace["layers"]
        self.model = torch.nn.Module()
        for layer in self.layers:
            out, into = layer["params"][0]["shape"]
            linear = torch.nn.Linear(into, out, bias=len(layer["params"]) == 2,
                                     dtype=getattr(torch, layer["dtype"]))
            for parameter in linear.parameters():
                torch.nn.init.constant_(parameter, 0.5)
            self.model.add_module(layer["name"], linear)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.0)
        self.scaler = torch.amp.GradScaler("cpu", **trace["scaler"]) if trace["scaler"] else None
        self.told = {"event": [], "metrics": []}
        self.monitor = ormas_monitor.Monitor(
            self.model, self.optimizer if self.scaler else None, out=folder / "run",
            config=ormas_monitor.MonitorConfig(**trace["config"]), scaler=self.scaler,
            layers=trace["layer_filter"], verbose=False,
            sinks=[lambda kind, told: self.told[kind].append(dict(told))])

    def set_gradients(self, step, scale):
        for layer in self.layers:
            gain = step["gain"][layer["name"]]
            for described in layer["params"]:
                parameter = self.model.get_parameter(f"{layer['name']}.{described['name']}")
                parameter.grad = None
                if gain is None:
                    continue
                values = [value * gain * scale for value in described["pattern"]]
                for one in step["inject"]:
                    if (one["layer"], one["param"]) == (layer["name"], described["name"]):
                        values[one["index"]] = float(one["value"])
                values = torch.tensor(values, dtype=torch.float64)
                parameter.grad = values.reshape(parameter.shape).to(parameter.dtype)

    def play(self, step):
        """The step's results."""
        self.told = {"event": [], "metrics": []}
        scale = None
        if self.scaler:
            self.scaler.scale(torch.ones(()))  # makes the scale, as a loop's loss does
            scale = self.scaler.get_scale()
        self.set_gradients(step, scale or 1.0)
        if step["unscale_called"]:
            self.scaler.unscale_(self.optimizer)
        loss = step["loss"]
        if loss is not None:
            loss = torch.tensor([float(one) for one in loss] if isinstance(loss, list)
                                else float(loss))
        self.monitor.step(loss)
        found_inf = self.end_step()
        return {"scale": scale, "found_inf": found_inf,
                "scale_after_update": self.scaler.get_scale() if self.scaler else None,
                "expect": self.expected()}

    def end_step(self):
        if not self.scaler or all(p.grad is None for p in self.model.parameters()):
            return None
        self.scaler.step(self.optimizer)
        looked = self.scaler._per_optimizer_states[id(self.optimizer)]["found_inf_per_device"]
        found = any(one.item() for one in looked.values())
        self.scaler.update()
        return found

    def expected(self):
        row = self.told["metrics"][0] if self.told["metrics"] else None
        events = [{"event": one["event"],
                   **{key: value for key, value in one.items() if key not in OTHER_FIELDS}}
                  for one in self.told["event"] if one["event"] not in OTHER_EVENTS]
        return strict({"sampled": row is not None, "loss": row and row["loss"],
                       "norms": row and row["grad"], "events": events,
                       "counts": dict(self.monitor.counts)})


def recorded(trace):
    with tempfile.TemporaryDirectory() as folder:
        run = Run(trace, pathlib.Path(folder))
        steps = []
        for number, step in enumerate(trace["steps"]):
            inputs = {key: step[key] for key in INPUTS}
            steps.append({"step": number, **inputs, **run.play(step)})
        final = {"steps": run.monitor.step_count, "checks": run.monitor.checks,
                 "counts": dict(run.monitor.counts)}
        run.monitor.close(report=False)
    return {**trace, "steps": steps, "final": final,
            "made_with": {"ormas_monitor": ormas_monitor.__version__,
                          "torch": torch.__version__.split("+")[0]}}


def main():
    asked = arguments()
    if ormas_monitor.__version__ != VERSION and asked.into is None:
        raise SystemExit(f"this data is ormas-monitor {VERSION}'s, and here is "
                         f"{ormas_monitor.__version__}")
    torch.set_num_threads(1)
    all_same = True
    for file in sorted(HERE.glob("*.json")):
        trace = json.loads(file.read_text())
        new = recorded(trace)
        if asked.check:
            # Which torch it was does not matter, as long as it gives the same.
            same = text_of_case({**new, "made_with": None}) == text_of_case(
                {**trace, "made_with": None})
            print(f"{file.name}: {len(new['steps'])} steps, {'as recorded' if same else 'differs'}")
            all_same = all_same and same
        else:
            ((asked.into or HERE) / file.name).write_text(text_of_case(new).lstrip() + "\n")
            print(f"{file.name}: {len(new['steps'])} steps recorded")
    return 0 if all_same else 1


if __name__ == "__main__":
    missing = [name for name in ("torch", "ormas_monitor") if not importlib.util.find_spec(name)]
    if missing:
        print(f"skipped: {sys.executable} has no {' and no '.join(missing)}")
        raise SystemExit(SKIPPED)
    import ormas_monitor
    import torch
    from recording import arguments, text_of_case
    raise SystemExit(main())
