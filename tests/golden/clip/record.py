"""Runs PyTorch over the inputs in clip.json and writes down what it does.

    python clip/record.py            # clip.json again, in place
    python clip/record.py --check    # writes nothing; says which cases PyTorch now answers otherwise

To add a case, add its name, function, call, params and arguments.
"""

import pathlib
import sys

import torch
from torch.nn import utils

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from recording import dtype_name, error_of, main, number, read, written  # noqa: E402

RESULTS = ("total_norm", "error", "grads_after")


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
    """What the function returns; None where that is nothing."""
    given = {"list": parameters, "generator": iter(parameters)}.get(case["call"])
    if case["call"] == "tensor":
        given = parameters[0]
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


def recorded(case):
    parameters = parameters_of(case["params"])
    new = {key: value for key, value in case.items() if key not in RESULTS}
    try:
        norm = call(case, parameters)
        if norm is not None:
            new["total_norm"] = {"dtype": dtype_name(norm.dtype),
                                 "value": number(norm.item(), norm.dtype)}
        new["error"] = None
    except RuntimeError as raised:
        new["error"] = error_of(raised)
    new["grads_after"] = [written(p.grad) for p in parameters]
    return new


if __name__ == "__main__":
    raise SystemExit(main(HERE, {"clip.json": recorded}))
