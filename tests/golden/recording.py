"""What the record.py of each folder shares: numbers and tensors as JSON, errors by kind, the file.

A recorder reads a golden file, runs PyTorch over the inputs that stand in it, and writes down what
it does. The inputs are the data; what is recorded here is only ever the answer. tests/golden holds
the answers of VERSION and of no other; with --into any version writes its own, elsewhere.
"""

import argparse
import json
import math
import pathlib

import torch

VERSION = "2.11.0"

# What a message says, as one word: wordings change from release to release.
KINDS = (
    ("unscale_() has already been called", "unscale_twice"),
    ("unscale_() is being called after step", "unscale_after_step"),
    ("step() has already been called", "step_twice"),
    ("No inf checks were recorded for this", "no_inf_checks_for_optimizer"),
    ("No inf checks were recorded prior", "no_inf_checks_before_update"),
    ("_scale is None", "scale_not_initialised"),
    ("unscale FP16 gradients", "fp16_gradients"),
    ("Closure use", "closure_not_supported"),
    ("growth factor must", "bad_growth_factor"),
    ("backoff factor must", "bad_backoff_factor"),
    ("state dict is empty", "empty_state"),
    ("new_scale should be", "bad_new_scale"),
    ("is non-finite", "nonfinite_norm"),
    ("outputs must be", "bad_scale_argument"),
    ("Expected a floating point", "integer_gradients"),
    ("refers to a single memory location", "overlapping_memory"),
    ("on an empty tensor", "infinity_norm_of_empty"),
    ("nested_tensorlist", "no_gradients"),
    ("match the broadcast shape", "broadcast"),
    ("have the same dtype", "dtype_mismatch"),
)


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def number(value, dtype=torch.float64):
    """A float as JSON. Nine digits hold a float32, and all that is narrower."""
    if not math.isfinite(value):
        return str(float(value))
    return float(value) if dtype == torch.float64 else float(f"{value:.9g}")


def float32(value):
    return number(value, torch.float32)


def values_of(tensor):
    values = tensor.detach().flatten().tolist()
    return [number(v, tensor.dtype) for v in values] if tensor.is_floating_point() else values


def written(tensor):
    if tensor is None:
        return None
    return {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape),
            "data": values_of(tensor)}


def read(described):
    if described is None:
        return None
    values = torch.tensor([float(v) for v in described["data"]], dtype=torch.float64)
    # A clone, since autocast keeps no copy of a view in its cache.
    return values.to(getattr(torch, described["dtype"])).reshape(described["shape"]).clone()


def error_of(raised):
    message = str(raised).splitlines()[0].strip()
    otherwise = "missing_key" if isinstance(raised, KeyError) else "other"
    kind = next((kind for part, kind in KINDS if part in message), otherwise)
    return {"kind": kind, "python_type": type(raised).__name__, "message": message[:300]}


def optimizer_of(described, params):
    """A torch.optim optimizer over `params` (by name), as `type`, `groups` and options say."""
    groups = [{**group, "params": [params[name] for name in group["params"]]}
              for group in described["groups"]]
    more = {key: described[key] for key in described if key not in ("type", "groups")}
    return {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[described["type"]](groups, **more)


# ---- the file


def one_line(value):
    return json.dumps(value, separators=(",", ":"))


def text_of_case(case):
    """One line a case, and one a step where it has steps."""
    if not case.get("steps"):
        return "  " + one_line(case)
    head = one_line({key: value for key, value in case.items() if key != "steps"})
    steps = ",\n".join("   " + one_line(step) for step in case["steps"])
    return f'  {head[:-1]},"steps":[\n{steps}]}}'


def text_of(golden):
    head = one_line({key: value for key, value in golden.items() if key != "cases"})
    cases = ",\n".join(text_of_case(case) for case in golden["cases"])
    return f'{head[:-1]},"cases":[\n{cases}\n]}}\n'


# ---- the command


def arguments():
    parser = argparse.ArgumentParser(description="Records golden data again, in place.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--check", action="store_true", help="only compare, write nothing")
    where.add_argument("--into", metavar="FOLDER", type=pathlib.Path,
                       help="write there, with any version of PyTorch")
    return parser.parse_args()


def names_of_different(was, now):
    """Of the cases that would be written otherwise: 1 is not 1.0 here, nor 0.0 -0.0."""
    return [new["name"] for old, new in zip(was["cases"], now["cases"])
            if text_of_case(old) != text_of_case(new)]


def main(here, recorders):
    """Records each file of the folder `here` by its function in `recorders`, which takes a case and
    gives it back with the results in it. Returns the exit status."""
    asked = arguments()
    version = torch.__version__.split("+")[0]
    if version != VERSION and asked.into is None:
        raise SystemExit(f"this data is PyTorch {VERSION}'s, and here is {torch.__version__}")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    all_same = True
    for name, recorded in recorders.items():
        golden = json.loads((here / name).read_text())
        new = {**golden, "torch": version, "cases": [recorded(case) for case in golden["cases"]]}
        if asked.check:
            other = names_of_different(golden, new)
            print(f"{name}: {len(new['cases'])} cases, {len(other)} differ", *other)
            all_same = all_same and not other
        else:
            ((asked.into or here) / name).write_text(text_of(new))
            print(f"{name}: {len(new['cases'])} cases, recorded with PyTorch {version}")
    return 0 if all_same else 1
