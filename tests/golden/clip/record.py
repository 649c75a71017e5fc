"""Runs PyTorch over the inputs in clip.json and writes down what it does.

    python clip/record.py            # clip.json again, in place; a new case needs its inputs only
    python clip/record.py --check    # writes nothing; says which cases PyTorch now answers otherwise

The inputs are the data: to add a case, add its name, function, call, params and arguments.
"""

import json
import math
import pathlib
import sys

import torch
from torch.nn import utils

VERSION = "2.11.0"
FILE = pathlib.Path(__file__).with_name("clip.json")
RESULTS = ("total_norm", "error", "grads_after")
# What a message says, as one word: wordings change from release to release.
KINDS = {
    "non-finite": "nonfinite_norm",
    "refers to a single memory location": "overlapping_memory",
    "Expected a floating point": "integer_gradients",
    "on an empty tensor": "infinity_norm_of_empty",
    "nested_tensorlist": "no_gradients",
}


# ---- numbers and tensors as JSON: nine digits hold a float32 and all that is narrower


def number(value, dtype=torch.float64):
    if not math.isfinite(value):
        return str(float(value))
    return float(value) if dtype == torch.float64 else float(f"{value:.9g}")


def written(tensor):
    if tensor is None:
        return None
    values = tensor.detach().flatten().tolist()
    if tensor.is_floating_point():
        values = [number(v, tensor.dtype) for v in values]
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
            "data": values}


def read(described):
    if described is None:
        return None
    values = torch.tensor([float(v) for v in described["data"]], dtype=torch.float64)
    return values.to(getattr(torch, described["dtype"])).reshape(described["shape"])


# ---- one case


def laid_out(gradient, layout):
    if layout == "transposed":
        return gradient.t().contiguous().t()
    if layout == "strided":  # every second column of a matrix twice as wide
        wide = torch.zeros(gradient.shape[0], 2 * gradient.shape[1], dtype=gradient.dtype)
        wide[:, ::2] = gradient
        return wide[:, ::2]
    if layout == "expanded":  # one element in all places
        return gradient.flatten()[:1].expand(gradient.shape)
    return gradient


def parameters_of(described):
    parameters = []
    for one in described:
        if "same_as" in one:
            parameters.append(parameters[one["same_as"]])
            continue
        parameter = torch.zeros(one["shape"], dtype=getattr(torch, one["dtype"]))
        parameter.requires_grad_(one["requires_grad"])
        if one["grad"] is not None:
            parameter.grad = laid_out(read(one["grad"]), one.get("layout"))
        parameters.append(parameter)
    return parameters


def call(case, parameters):
    """What the function returns, or None where that is nothing."""
    argument = {"list": parameters, "tensor": parameters[:1], "generator": iter(parameters)}
    given = parameters[0] if case["call"] == "tensor" else argument[case["call"]]
    function = case["function"]
    if function == "clip_grad_norm_":
        return utils.clip_grad_norm_(given, float(case["max_norm"]), float(case["norm_type"]),
                                     case["error_if_nonfinite"])
    if function == "clip_grad_value_":
        return utils.clip_grad_value_(given, float(case["clip_value"]))
    if function == "get_total_norm":
        gradients = [p.grad for p in parameters if p.grad is not None]
        return utils.get_total_norm(gradients, float(case["norm_type"]),
                                    case["error_if_nonfinite"])
    if function == "clip_grads_with_norm_":
        return utils.clip_grads_with_norm_(given, float(case["max_norm"]),
                                           torch.tensor(float(case["given_total_norm"])))
    raise SystemExit(f"{case['name']}: no function {function}")


def error_of(raised):
    message = str(raised).splitlines()[0].strip()
    kind = next((kind for part, kind in KINDS.items() if part in message), "other")
    return {"kind": kind, "python_type": type(raised).__name__, "message": message[:300]}


def recorded(case):
    """The case with results in the place of those that it had."""
    parameters = parameters_of(case["params"])
    new = {key: value for key, value in case.items() if key not in RESULTS}
    try:
        norm = call(case, parameters)
        if norm is not None:
            new["total_norm"] = {"dtype": str(norm.dtype).removeprefix("torch."),
                                 "value": number(norm.item(), norm.dtype)}
        new["error"] = None
    except RuntimeError as raised:
        new["error"] = error_of(raised)
    new["grads_after"] = [written(p.grad) for p in parameters]
    return new


def main():
    if torch.__version__.split("+")[0] != VERSION:
        raise SystemExit(f"this data is PyTorch {VERSION}'s, and here is {torch.__version__}")
    torch.set_num_threads(1)
    golden = json.loads(FILE.read_text())
    new = [recorded(case) for case in golden["cases"]]
    if sys.argv[1:] == ["--check"]:
        other = [now["name"] for was, now in zip(golden["cases"], new) if was != now]
        print(f"{len(new)} cases, {len(other)} differ", *other)
        raise SystemExit(1 if other else 0)
    lines = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in new)
    head = {"format": 1, "torch": VERSION, "topic": "clip"}
    FILE.write_text(json.dumps(head, separators=(",", ":"))[:-1] + f',"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
