"""Logs with none to three faults at once, in any format, some with a line every ten steps: harder than
the named cases, because one fault can look like another. The truth is what was put in; what a format
cannot show counts as neither told nor missed."""
import math
from dataclasses import replace

import simulate
import write
from cases import Case, Draw, skips_of

FORMS = {  # what each shows
    write.own: {"norm", "scale", "skip", "lr", "batch"},
    write.key_value: {"norm", "scale", "skip", "lr"},
    write.csv: {"norm", "scale", "skip", "lr"},
    write.swin: {"norm", "scale", "lr", "batch"},
    write.megatron: {"norm", "scale", "skip"},  # and no loss where a step was skipped
    write.trainer_state: {"norm"},
    write.nanogpt: set(),
    write.apex: {"skip"},
}
SPARSE = (write.megatron, write.trainer_state, write.nanogpt)  # may have a line every ten steps


def overflow(draw, plan):
    plan.overflow_at = {draw.r.randrange(60, 400) for _ in range(draw.r.randrange(1, 5))}
    return set()


def nan(draw, plan):
    plan.nan_at = {draw.r.randrange(60, 400): draw.r.choice([math.nan, math.inf])}
    return {"nan_without_overflow"}


def diverge(draw, plan):
    plan.warmup, plan.diverge_from, plan.diverge_rate = 20, draw.r.randrange(260, 400), draw.r.uniform(0.02, 0.05)
    plan.steps, plan.ceiling = plan.diverge_from + 130, 1e9
    return {"divergence"}


def spike(draw, plan):
    plan.spikes = {draw.r.randrange(120, 250): draw.r.uniform(3, 6)}
    plan.ceiling = 1e9
    return {"loss_spike"}


def eager_schedule(draw, plan):
    plan.hold_on_skip, plan.warmup, plan.peak_lr = False, 50, 1e-3
    plan.overflow_at = plan.overflow_at | {draw.r.randrange(80, 400), draw.r.randrange(80, 400)}
    return {"schedule_on_skips"}


def collapse(draw, plan):
    plan.overflow_from = draw.r.randrange(200, 380)
    plan.steps = plan.overflow_from + 45
    return {"scale_collapse"}


def zero(draw, plan):
    plan.zero_from = draw.r.randrange(150, 300)
    return {"no_gradient"}


def resume(draw, plan):
    plan.resume_at, plan.resume_scale, plan.ceiling = draw.r.randrange(200, 380), 65536.0, 3e3
    plan.growth_interval = 2000
    return {"resume_without_scaler"}


FAULTS = [overflow, nan, diverge, spike, eager_schedule, collapse, zero, resume]
NEEDS = {"nan_without_overflow": set(), "divergence": set(), "loss_spike": set(), "schedule_on_skips": {"lr", "skip"},
         "scale_collapse": {"skip"}, "no_gradient": {"norm"}, "resume_without_scaler": {"scale", "skip"},
         "calibration": {"skip"}, "single_overflow": {"skip"}}
# Faults that cannot be told apart in one run; the first of a pair gives way.
CLASH = [(diverge, collapse), (spike, diverge), (diverge, resume), (spike, resume), (zero, resume),
         (zero, diverge), (resume, collapse), (zero, collapse), (nan, collapse), (nan, resume)]


def chosen(draw):
    faults = draw.r.sample(FAULTS, draw.r.randrange(0, 4))
    for yielding, other in CLASH:
        if yielding in faults and other in faults:
            faults.remove(yielding)
    return faults


def one(draw):
    plan, truth, faults = draw.plan(), set(), chosen(draw)
    for fault in FAULTS:
        if fault in faults:
            truth |= fault(draw, plan)
    records = simulate.run(replace(plan))
    form = draw.r.choice(list(FORMS))
    every = draw.r.choice([1, 10]) if form in SPARSE else 1
    truth |= skips_of(records)
    if "scale_collapse" in truth:
        truth -= {"calibration", "single_overflow"}
    if form is write.nanogpt and "nan_without_overflow" in truth:
        truth = truth - {"nan_without_overflow"} | {"nonfinite_loss"}
    text = form(records[::every]) if form is write.nanogpt or every == 1 else form(records, every)
    made = Case(f"mixed_{form.__name__}_{every}_" + "_".join(f.__name__ for f in faults), "mixed", text, truth)
    # Between its lines a log of every tenth step shows little; there only a wrong word counts.
    if form is write.megatron:
        truth.discard("nan_without_overflow")
    made.optional = {name for name in truth if every > 1 or not NEEDS.get(name, set()) <= FORMS[form]}
    return made


def all_cases(seed=77, count=200):
    draw = Draw(seed)
    return [one(draw) for _ in range(count)]
