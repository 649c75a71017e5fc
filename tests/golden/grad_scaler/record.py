"""Plays the call sequences in grad_scaler.json with torch.amp.GradScaler and writes down the state
after every call.

    python grad_scaler/record.py            # grad_scaler.json again, in place
    python grad_scaler/record.py --check    # writes nothing; says which cases now go otherwise

To add a case, add its name, scaler, params, optimizers and its steps, each with an "op" only.
"""

import copy
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from recording import (error_of, float32, main, optimizer_of, read, values_of,  # noqa: E402
                       written)

ERRORS = (RuntimeError, AssertionError, ValueError, KeyError, AttributeError)


def scaler_of(config):
    return torch.amp.GradScaler("cpu", **config)


def written_state(kept):
    """What an optimizer keeps of one parameter: SGD's momentum, or AdamW's moments and step."""
    state = {key: values_of(kept[key]) for key in ("momentum_buffer", "exp_avg", "exp_avg_sq")
             if kept.get(key) is not None}
    return {**state, "step": int(kept["step"])} if "step" in kept else state


class Play:
    """The live objects of one case; play(op) does one call and returns what it gave."""

    def __init__(self, case):
        self.params = {name: read(value).requires_grad_() for name, value in case["params"].items()}
        self.scaler = scaler_of(case["scaler"])
        self.optimizers = {name: optimizer_of(described, self.params)
                           for name, described in case["optimizers"].items()}
        self.applied = dict.fromkeys(self.optimizers, 0)
        for name in self.optimizers:
            self.count_steps(name)
        self.saved = {}

    def count_steps(self, name):
        plain = self.optimizers[name].step

        def counted(*args, **kwargs):
            self.applied[name] += 1
            return plain(*args, **kwargs)

        self.optimizers[name].step = counted

    # ---- the calls, by their names in the file

    def backward(self, op):
        loss = sum((self.params[name] * read(grad)).sum() for name, grad in op["grads"].items())
        self.scaler.scale(loss).backward()

    def scale(self, op):
        return {"output": written(self.scaler.scale(read(op["value"])))}

    def scale_list(self, op):
        return {"outputs": [written(value) for value in
                            self.scaler.scale([read(value) for value in op["values"]])]}

    def set_grad(self, op):
        self.params[op["param"]].grad = read(op["grad"])

    def set_grad_element(self, op):
        self.params[op["param"]].grad.view(-1)[op["index"]] = float(op["value"])

    def zero_grad(self, op):
        self.optimizers[op["optimizer"]].zero_grad(set_to_none=op["set_to_none"])

    def unscale_(self, op):
        self.scaler.unscale_(self.optimizers[op["optimizer"]])

    def clip_grad_norm_(self, op):
        clipped = [self.params[name] for name in op["params"]]
        norm = torch.nn.utils.clip_grad_norm_(clipped, float(op["max_norm"]))
        return {"total_norm": float32(norm.item())}

    def step(self, op):
        self.scaler.step(self.optimizers[op["optimizer"]])

    def step_closure(self, op):
        self.scaler.step(self.optimizers[op["optimizer"]], closure=lambda: torch.zeros(()))

    def update(self, op):
        if "new_scale" in op:
            self.scaler.update(float(op["new_scale"]))
        elif "new_scale_tensor" in op:
            given = read(op["new_scale_tensor"])
            self.scaler.update(given.requires_grad_(op.get("requires_grad", False)))
        else:
            self.scaler.update()

    def set_growth_factor(self, op):
        self.scaler.set_growth_factor(op["value"])

    def set_backoff_factor(self, op):
        self.scaler.set_backoff_factor(op["value"])

    def set_growth_interval(self, op):
        self.scaler.set_growth_interval(op["value"])

    def state_dict(self, _):
        return {"state": self.scaler.state_dict()}

    def load_state_dict(self, op):
        self.scaler.load_state_dict(op["state"])

    def new_scaler(self, op):
        self.scaler = scaler_of(op["config"])

    def save(self, op):
        optimizers = {name: one.state_dict() for name, one in self.optimizers.items()}
        self.saved[op["slot"]] = copy.deepcopy(
            {"scaler": self.scaler.state_dict(), "optimizers": optimizers,
             "params": {name: one.detach() for name, one in self.params.items()}})
        return {"state": self.scaler.state_dict()}

    def load_scaler(self, op):
        self.scaler.load_state_dict(self.saved[op["slot"]]["scaler"])

    def load_all(self, op):
        saved = copy.deepcopy(self.saved[op["slot"]])
        self.scaler.load_state_dict(saved["scaler"])
        with torch.no_grad():
            for name, value in saved["params"].items():
                self.params[name].copy_(value)
        for name, state in saved["optimizers"].items():
            self.optimizers[name].load_state_dict(state)

    # ---- what can be seen afterwards

    def optimizer_state(self, name):
        """Momentum or moments of each parameter; none before the first applied step."""
        kept = self.optimizers[name].state
        states = {parameter: written_state(kept.get(tensor, {}))
                  for parameter, tensor in self.params.items()}
        return {parameter: state for parameter, state in states.items() if state}

    def seen_of_optimizer(self, name):
        enabled = self.scaler.is_enabled()
        state = self.scaler._per_optimizer_states.get(id(self.optimizers[name])) if enabled else None
        found = state["found_inf_per_device"] if state else {}
        seen = {"stage": state["stage"].name if state else "READY",
                "found_inf": float32(sum(v.item() for v in found.values())) if found else None,
                "steps_applied": self.applied[name]}
        kept = self.optimizer_state(name)
        if kept:
            seen["state"] = kept
        return seen

    def seen(self):
        scaler = self.scaler
        return {
            "scale": float32(scaler.get_scale()),
            "growth_tracker": scaler._get_growth_tracker(),
            "initialised": scaler.is_enabled() and scaler._scale is not None,
            "optimizers": {name: self.seen_of_optimizer(name) for name in self.optimizers},
            "params": {name: values_of(one) for name, one in self.params.items()},
            "grads": {name: None if one.grad is None else values_of(one.grad)
                      for name, one in self.params.items()},
        }

    def recorded(self, op):
        before = dict(self.applied)
        result = {}
        try:
            result.update(getattr(self, op["op"])(op) or {})
            result["error"] = None
        except ERRORS as raised:
            result["error"] = error_of(raised)
        if op["op"].startswith("step"):
            result["applied"] = self.applied != before
        return {"op": op, "result": result, "after": self.seen()}


def recorded(case):
    new = {key: value for key, value in case.items() if key not in ("construction_error", "steps")}
    try:
        play = Play(case)
    except AssertionError as raised:
        return {**new, "construction_error": error_of(raised), "steps": []}
    return {**new, "construction_error": None,
            "steps": [play.recorded(step["op"]) for step in case["steps"]]}


if __name__ == "__main__":
    raise SystemExit(main(HERE, {"grad_scaler.json": recorded}))
