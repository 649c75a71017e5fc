"""ops.json: the dtype that one operation gives for each mix of input dtypes, inside an autocast
region and outside.

A case's inputs are `name`, `call` (Python over the tensors a, b, c) and `inputs`: each a `shape`
and a `fill`, and a `dtype` where it keeps its own in every mix.
"""

import torch
from torch.nn import functional

from recording import dtype_name

FILLS = {
    "zero": torch.zeros,
    "one": torch.ones,
    "half": lambda shape: torch.full(shape, 0.5),
    "quarter": lambda shape: torch.full(shape, 0.25),
    "eye": lambda shape: torch.eye(shape[-1]).expand(shape).clone(),
    "ramp": lambda shape: torch.ones(shape).flatten().cumsum(0).reshape(shape) / 8,
}

# The dtype of the first floating-point input, and of the rest where they have another.
VARIANTS = ("f32", "low", "other", "f64", "low_then_f32", "f32_then_low", "low_then_other",
            "f32_then_f64")
REGIONS = (torch.float16, torch.bfloat16)


def has_dtype_of_variant(described):
    return "dtype" not in described


def dtypes_of(variant, low):
    """Of the first input and of the rest; `low` is the region's, `other` the other 16-bit one."""
    dtypes = {"f32": torch.float32, "f64": torch.float64, "low": low,
              "other": next(dtype for dtype in REGIONS if dtype != low)}
    first, _, rest = variant.partition("_then_")
    return dtypes[first], dtypes[rest or first]


def inputs_of(case, variant, low):
    first, rest = dtypes_of(variant, low)
    inputs, dtype = [], first
    for described in case["inputs"]:
        value = FILLS[described["fill"]](described["shape"])
        if has_dtype_of_variant(described):
            inputs.append(value.to(dtype))
            dtype = rest
        else:
            inputs.append(value.to(getattr(torch, described["dtype"])))
    return inputs


def outcome(case, variant, low):
    """The output's dtype, or what kind of error there was."""
    names = dict(zip("abc", inputs_of(case, variant, low)))
    try:
        with torch.no_grad():
            return dtype_name(eval(case["call"], {"torch": torch, "F": functional}, names).dtype)
    except (RuntimeError, ValueError, IndexError) as raised:
        return "error_prioritize" if "autocast::prioritize" in str(raised) else "error"


def variants_of(case):
    """A single input has no mixtures."""
    mixes = sum(has_dtype_of_variant(described) for described in case["inputs"]) > 1
    return [variant for variant in VARIANTS if mixes or "_then_" not in variant]


def outcomes(case, low):
    variants = variants_of(case)
    with torch.amp.autocast("cpu", dtype=low):
        inside = {variant: outcome(case, variant, low) for variant in variants}
    return {"inside": inside,
            "outside": {variant: outcome(case, variant, low) for variant in variants}}


def class_in(region, seen):
    """What autocast does with the operation: takes it to the region's dtype, takes it to float32,
    widens mixed inputs, or leaves it alone."""
    inside, outside = seen["inside"], seen["outside"]
    if inside["f32"] == region:
        return "lower"
    if inside["low"] != outside["low"] and inside["low"] in ("float32", "complex64"):
        return "float32"
    return "promote" if "error_prioritize" in inside.values() else "unlisted"


def recorded(case):
    seen = {dtype_name(low): outcomes(case, low) for low in REGIONS}
    classes = {class_in(region, one) for region, one in seen.items()}
    return {**case, **seen, "class": "/".join(sorted(classes))}
