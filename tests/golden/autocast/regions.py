"""regions.json: autocast regions entered, left, nested and thrown out of, products computed in them,
and the autocast state after every step.

A case's inputs are `name`, `tensors` and its `steps`, each with an "op" only.
"""

import contextlib
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from recording import dtype_name, error_of, read, written


def state():
    nesting = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return {"enabled": torch.is_autocast_enabled("cpu"),
            "dtype": dtype_name(torch.get_autocast_dtype("cpu")),
            "cache_enabled": torch.is_autocast_cache_enabled(), "nesting": nesting}


class CastCounter(TorchDispatchMode):
    """Counts the changes of dtype while it is entered: in a product, autocast's."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.ops.aten._to_copy.default and "dtype" in kwargs:
            self.count += 1
        return function(*args, **kwargs)


class LeftByException(Exception):
    pass


def tensor_of(described):
    return read(described["value"]).requires_grad_(described["requires_grad"])


class Play:
    """The tensors and open regions of one case; play(op) does one step and returns what it gave."""

    def __init__(self, case):
        self.tensors = {name: tensor_of(one) for name, one in case["tensors"].items()}
        self.open = []

    # ---- the steps, by their names in the file

    def enter(self, op):
        dtype = op["dtype"] and getattr(torch, op["dtype"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where it does not take the dtype
            region = torch.amp.autocast("cpu", dtype=dtype, enabled=op["enabled"],
                                        cache_enabled=op["cache_enabled"])
        region.__enter__()
        self.open.append(region)

    def exit(self, _):
        self.open.pop().__exit__(None, None, None)

    def throw(self, op):
        left = [self.open.pop() for _ in range(op["levels"])]
        with contextlib.suppress(LeftByException), contextlib.ExitStack() as stack:
            for region in reversed(left):
                stack.push(region)
            raise LeftByException

    def mm(self, op):
        return self.product(torch.mm, op)

    def linear(self, op):
        return self.product(torch.nn.functional.linear, op)

    def product(self, function, op):
        factors = [self.tensors[name] for name in op["args"]]
        with CastCounter() as casts, torch.set_grad_enabled(op.get("grad", True)):
            output = function(*factors)
        if "out" in op:
            self.tensors[op["out"]] = output
        return {"output": written(output), "requires_grad": output.requires_grad,
                "casts": casts.count}

    def assign(self, op):
        with torch.no_grad():
            self.tensors[op["tensor"]].copy_(read(op["value"]))

    def clear_cache(self, _):
        torch.clear_autocast_cache()

    def backward_sum(self, op):
        leaves = {name: one for name, one in self.tensors.items()
                  if one.is_leaf and one.requires_grad}
        total = self.tensors[op["tensor"]].float().sum()
        gradients = torch.autograd.grad(total, list(leaves.values()))
        return {"grads": {name: written(one) for name, one in zip(leaves, gradients)}}

    # ---- what is recorded

    def recorded(self, op):
        try:
            result = {"error": None, **(getattr(self, op["op"])(op) or {})}
        except RuntimeError as raised:
            result = {"error": error_of(raised)}
        return {"op": op, "result": result, "state": state()}

    def leave_all(self):
        while self.open:
            self.exit(None)


def recorded(case):
    before = state()
    play = Play(case)
    steps = [play.recorded(step["op"]) for step in case["steps"]]
    play.leave_all()
    return {**case, "before": before, "after": state(), "steps": steps}
