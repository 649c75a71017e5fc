"""traces.json: a small network trained with autocast, GradScaler and clipping, step by step.

A case's inputs are all that it has but `parameters` and `steps`. A step takes `accumulate` batches,
as `schedule` numbers them.
"""

import torch
from torch.nn import functional

from recording import dtype_name, float32, optimizer_of, read, values_of

ACTIVATIONS = {"relu": torch.relu}
LOSSES = {"mse": functional.mse_loss, "cross_entropy": functional.cross_entropy}


def parameters_of(layers):
    """w0, b0, w1, …; a layer without bias has no b."""
    described = {f"{letter}{number}": layer[key] for number, layer in enumerate(layers)
                 for letter, key in (("w", "weight"), ("b", "bias"))}
    return {name: read(value).requires_grad_() for name, value in described.items()
            if value is not None}


class Training:
    """The live objects of one case; step(batches) trains one step and returns what it saw."""

    def __init__(self, case):
        self.case = case
        self.params = parameters_of(case["layers"])
        self.scaler = torch.amp.GradScaler("cpu", **case["scaler"])
        self.optimizer = optimizer_of(case["optimizer"], self.params)
        self.applied = 0
        self.optimizer.register_step_post_hook(self.count_step)

    def count_step(self, *_):
        self.applied += 1

    def forward(self, x):
        last = len(self.case["layers"]) - 1
        for number in range(last + 1):
            x = functional.linear(x, self.params[f"w{number}"], self.params.get(f"b{number}"))
            if number < last:
                x = ACTIVATIONS[self.case["activation"]](x)
        return x

    def output_and_loss(self, batch):
        dtype = getattr(torch, self.case["autocast"]["dtype"])
        with torch.amp.autocast("cpu", dtype=dtype, enabled=self.case["autocast"]["enabled"]):
            output = self.forward(read(batch["x"]))
            loss = LOSSES[self.case["loss"]](output, read(batch["y"]))
            return output, loss / self.case["accumulate"]

    def backward(self, batch):
        output, loss = self.output_and_loss(batch)
        self.scaler.scale(loss).backward()
        return {"loss": float32(loss.item()), "loss_dtype": dtype_name(loss.dtype),
                "output_dtype": dtype_name(output.dtype)}

    def clip(self):
        """The norm before clipping; None where the case does not clip."""
        max_norm = self.case["max_norm"]
        if self.case["explicit_unscale"] or max_norm is not None:
            self.scaler.unscale_(self.optimizer)
        if max_norm is None:
            return None
        norm = torch.nn.utils.clip_grad_norm_(list(self.params.values()), max_norm)
        return float32(norm.item())

    def step(self, batches):
        applied, scale = self.applied, self.scaler.get_scale()
        self.optimizer.zero_grad()
        passes = [self.backward(batch) for batch in batches]
        norm = self.clip()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return {
            "losses": [one["loss"] for one in passes],
            "loss_dtype": passes[-1]["loss_dtype"],
            "output_dtype": passes[-1]["output_dtype"],
            "scale_used": float32(scale),
            "skipped": self.applied == applied,
            "norm_before_clip": norm,
            "scale_after": float32(self.scaler.get_scale()),
            "growth_tracker_after": self.scaler._get_growth_tracker(),
            "params_after": {name: values_of(one) for name, one in self.params.items()},
        }


def recorded(case):
    training = Training(case)
    schedule, count = case["schedule"], case["accumulate"]
    steps = []
    for number in range(len(schedule) // count):
        indices = schedule[number * count:(number + 1) * count]
        steps.append({"step": number,
                      **training.step([case["batches"][index] for index in indices])})
    return {**case, "parameters": list(training.params), "steps": steps}
