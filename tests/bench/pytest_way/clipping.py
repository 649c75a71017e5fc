"""The exercise's right answer in Python."""
import math

import torch


def total_norm(parameters):
    total = 0.0
    for p in parameters:
        if p.grad is None:
            continue
        total += p.grad.to(torch.float64).square().sum().item()
    return math.sqrt(total)


def clip_gradients(parameters, max_norm):
    norm = total_norm(parameters)
    coefficient = max_norm / (norm + 1e-6)
    if coefficient < 1:
        for p in parameters:
            if p.grad is not None:
                p.grad.mul_(coefficient)
    return norm


def clip_gradients_checked(parameters, max_norm):
    if not math.isfinite(total_norm(parameters)):
        raise RuntimeError("norm is not finite")
    return clip_gradients(parameters, max_norm)


def clip_after_warmup(parameters, max_norm, step, warmup_steps):
    if step >= warmup_steps:
        clip_gradients(parameters, max_norm)
        return True
    return False
