"""Two hundred logs with their true causes: for each diagnosis logs that show it, near-misses that do
not, and healthy runs. A case's truth is what was put into the simulation, and what follows from the
scaler's arithmetic; what the reader says has no part in it."""
import math
import random
from dataclasses import dataclass, field

import simulate
import write
from simulate import Plan


@dataclass
class Case:
    name: str
    kind: str                 # the diagnosis it is about, "near_miss" or "healthy"
    text: str
    truth: set
    earlier: str = ""         # the log of the run before, for a retry
    optional: set = field(default_factory=set)  # true, and more than this log can show


START_LINES = 20  # skips in a run's first lines are calibration


def skips_of(records):
    """The scaler's own: calibration and overflows that passed, of losses that were finite."""
    truth, streak, later = set(), [], []
    for record in records + [None]:
        if record is not None and record["skipped"] and math.isfinite(record["loss"]):
            streak.append(record)
            continue
        if streak and streak[0]["step"] < START_LINES and not later:
            truth.add("calibration")
        elif streak:
            later.append((streak, record is not None))
        streak = []
    if any(ended for _, ended in later):
        truth.add("single_overflow")
    return truth


def case(name, kind, plan, causes=(), form=write.own, **how):
    records = simulate.run(plan)
    truth = skips_of(records) | set(causes)
    if "scale_collapse" in causes:
        truth -= {"calibration", "single_overflow"}
    return Case(name, kind, form(records, **how), truth)


def settings(plan, **more):
    return {"seed": plan.seed, "max_norm": plan.max_norm, "init_scale": plan.init_scale,
            "growth_interval": plan.growth_interval, **more}


class Draw:
    """Plans that differ, from one seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def plan(self, **fixed):
        r = self.r
        values = dict(seed=r.randrange(10**6), steps=r.randrange(450, 900), norm=r.uniform(0.4, 0.9),
                      norm_noise=r.uniform(0.12, 0.3), noise=r.uniform(0.02, 0.05),
                      loss_from=r.uniform(2, 8), loss_to=r.uniform(0.3, 1.5), ceiling=r.uniform(2e4, 8e4),
                      growth_interval=r.choice([200, 500, 2000]), warmup=r.choice([0, 20, 50]),
                      peak_lr=r.choice([3e-4, 1e-3, 6e-3]))
        values.update(fixed)
        values.setdefault("max_norm", round(values["norm"] * r.uniform(1.2, 2.5), 2))
        return Plan(**values)


def healthy(draw, i):
    plan = draw.plan()
    form = [write.own, write.key_value, write.csv, write.trainer_state, write.megatron, write.hf_stdout,
            write.nanogpt, write.apex, write.swin, write.mmengine][i % 10]
    records = simulate.run(plan)
    truth = skips_of(records)
    if form in (write.trainer_state, write.hf_stdout, write.nanogpt, write.mmengine):
        truth = set()  # neither scale nor skip in these
    return Case(f"healthy_{form.__name__}", "healthy", form(records), truth)


def single_overflow(draw, i):
    at = draw.r.randrange(100, 400)
    return case("overflow", "single_overflow", draw.plan(overflow_at={at}), ["single_overflow"],
                form=[write.own, write.key_value, write.apex][i % 3])


def calibration(draw, i):
    return case("calibration", "calibration", draw.plan(init_scale=2.0 ** draw.r.randrange(18, 24)),
                ["calibration"], form=[write.own, write.csv, write.key_value][i % 3])


def scale_collapse(draw, i):
    start = 0 if i == 0 else draw.r.randrange(60, 400)
    plan = draw.plan(overflow_from=start, least_scale=1.0 if i in (1, 2) else 0.0)
    plan.steps = start + (60 if i < 2 else draw.r.randrange(14, 120))
    form = write.deepspeed if i == 2 else write.own if i % 2 else write.key_value
    if form is write.deepspeed:
        return case("collapse", "scale_collapse", plan, ["scale_collapse"], form, every=1)
    return case("collapse", "scale_collapse", plan, ["scale_collapse"], form)


def scale_pinned(draw, i):
    plan = draw.plan(growth_interval=draw.r.choice([40, 60, 90]), init_scale=1024.0, norm=0.3, max_norm=1.0,
                     most_scale=draw.r.choice([4096.0, 8192.0]), steps=900, ceiling=1e9)
    start = settings(plan) if i % 2 else None
    drop = ("growth_tracker",) if i % 3 == 0 else ()
    return case("pinned", "scale_pinned", plan, ["scale_pinned"], start=start, drop=drop)


def clip_always(draw, i):
    plan = draw.plan(norm=draw.r.uniform(4, 20), max_norm=draw.r.choice([0.1, 0.5, 1.0]), norm_noise=0.15,
                     ceiling=1e6)
    return case("always", "clip_always", plan, ["clip_always"], [write.own, write.key_value][i % 2])


def clip_never(draw, i):
    plan = draw.plan(max_norm=draw.r.choice([25.0, 50.0, 100.0]))
    return case("never", "clip_never", plan, ["clip_never"], [write.own, write.key_value][i % 2])


def norm_after_clip(draw, i):
    plan = draw.plan(norm=1.0, max_norm=draw.r.choice([0.9, 1.0, 1.1]) if i % 2 else 1.0)
    records = simulate.run(plan)
    for r in records:
        r["norm"] = r["norm"] * plan.max_norm / (r["norm"] + 1e-6) if r["clipped"] else r["norm"]
    drop = ("max_norm", "clipped") if i % 3 == 2 else ()
    form = write.own(records, drop=drop)
    return Case("after_clip", "norm_after_clip", form, skips_of(records) | {"norm_after_clip"})


def scaled(field_name):
    def make(draw, i):
        plan = draw.plan(growth_interval=draw.r.choice([60, 100]), init_scale=2.0 ** draw.r.randrange(10, 14),
                         ceiling=1e9 if i % 2 else 3e4, max_norm=1e9)
        records = simulate.run(plan)
        for r in records:
            r[field_name] *= r["scale"]
        truth = skips_of(records) | {f"{field_name}_scaled"}
        return Case(f"{field_name}_scaled", f"{field_name}_scaled",
                    write.own(records, drop=("max_norm", "clipped")), truth)
    return make


def scale_logged_after(draw, i):
    at = {draw.r.randrange(60, 400) for _ in range(2 + i % 3)}
    records = simulate.run(draw.plan(overflow_at=at))
    truth = skips_of(records) | {"scale_logged_after"}
    for r in records:
        r["scale"] = r["scale_after"]
    return Case("scale_after", "scale_logged_after", write.own(records, drop=("scale_after",)), truth)


def skips_as_failures(draw, i):
    at = {draw.r.randrange(60, 400) for _ in range(3)}
    records = simulate.run(draw.plan(overflow_at=at))
    skipped = [r["step"] for r in records if r["skipped"]]
    events, end = [], {}
    if i % 2:
        events = [{"event": ["nonfinite_gradient", "skipped_step", "overflow"][i % 3],
                   "severity": ["critical", "warning", "error"][i % 3], "step": s} for s in skipped]
    else:
        end = {"counts": {"failures": len(skipped)}}
    return Case("failures", "skips_as_failures", write.own(records, events=events, end=end),
                skips_of(records) | {"skips_as_failures"})


def nan_without_overflow(draw, i):
    start = draw.r.randrange(60, 400)
    if i % 4 == 0:      # an all-masked batch, 0/0
        plan = draw.plan(nan_at={start: math.nan})
    elif i % 4 == 1:    # a logarithm of zero
        plan = draw.plan(nan_at={start: math.inf, start + 37: math.inf})
    elif i % 4 == 2:    # the same data each epoch
        plan = draw.plan(nan_at={start % 100 + 100 * k: math.nan for k in range(1, 4)})
    else:               # to the end: the scale collapses as a symptom
        plan = draw.plan(nan_from=start)
        plan.steps = start + 40
    return case("nan", "nan_without_overflow", plan, ["nan_without_overflow"],
                [write.own, write.key_value][i % 2])


def nonfinite_loss(draw, i):
    plan = draw.plan(nan_from=draw.r.randrange(100, 400), nan_skips=False)
    records = simulate.run(plan)
    return Case("nan_poor_log", "nonfinite_loss", write.nanogpt(records[::10] if i % 2 else records),
                {"nonfinite_loss"})


def nonfinite_update(draw, i):
    at = {draw.r.randrange(60, 400) for _ in range(2)}
    plan = draw.plan(overflow_at=at, apply_nonfinite=True, init_scale=1024.0, ceiling=1e9)
    return case("applied", "nonfinite_update", plan, ["nonfinite_update"])


def divergence_at_warmup_end(draw, i):
    warmup = draw.r.choice([80, 100, 140])
    plan = draw.plan(warmup=warmup, diverge_from=warmup + draw.r.randrange(-10, 20),
                     diverge_rate=draw.r.uniform(0.02, 0.05), schedule="cosine", ceiling=1e9)
    plan.steps = warmup + draw.r.randrange(120, 200)
    return case("warmup", "divergence_at_warmup_end", plan, ["divergence_at_warmup_end"],
                [write.own, write.key_value, write.csv][i % 3])


def divergence(draw, i):
    plan = draw.plan(warmup=20, diverge_from=draw.r.randrange(250, 380),
                     diverge_rate=draw.r.uniform(0.02, 0.05), ceiling=1e9)
    plan.steps = plan.diverge_from + 120
    return case("diverges", "divergence", plan, ["divergence"],
                [write.own, write.nanogpt, write.trainer_state][i % 3])


def loss_spike(draw, i):
    at = draw.r.randrange(150, 400)
    plan = draw.plan(spikes={at: draw.r.uniform(2.5, 6)}, ceiling=1e9)
    return case("spike", "loss_spike", plan, ["loss_spike"],
                [write.own, write.nanogpt, write.key_value][i % 3])


def spike_same_data(draw, i):
    plan = draw.plan(spike_batch=draw.r.randrange(30, 95), spike_factor=draw.r.uniform(2.5, 5), ceiling=1e9)
    return case("same_data", "spike_same_data", plan, ["spike_same_data"],
                [write.own, write.csv, write.swin][i % 3])


def retry_same_overflow(draw, i):
    plan = draw.plan(overflow_at={draw.r.randrange(100, 300)})
    records = simulate.run(plan)
    start = settings(plan) if i % 2 else {}
    text = write.own(records, start={**start, "name": "again"})
    earlier = write.own(records, start={**start, "name": "first"})
    made = Case("retry", "retry_same_overflow", text, skips_of(records) | {"retry_same_overflow"},
                earlier=earlier)
    if i % 3 == 0:
        made.text, made.earlier = earlier + text, ""  # both in one file
    return made


def schedule_on_skips(draw, i):
    at = {draw.r.randrange(60, 400) for _ in range(2)}
    plan = draw.plan(overflow_at=at, hold_on_skip=False, warmup=50)
    return case("schedule", "schedule_on_skips", plan, ["schedule_on_skips"],
                [write.own, write.key_value, write.csv][i % 3])


def small_last_window(draw, i):
    plan = draw.plan(micro_batches=8 if i % 2 else 0, last_window=draw.r.choice([1, 2, 3]), norm_noise=0.12,
                     epoch_steps=100, steps=800)
    drop = () if i % 2 else ("micro_batches", "batch")
    return case("window", "small_last_window", plan, ["small_last_window"], drop=drop)


def resume_without_scaler(draw, i):
    at = draw.r.randrange(200, 380)
    if i % 3 == 2:
        plan = draw.plan(resume_at=at, resume_tracker=False, init_scale=1024.0, ceiling=1e9,
                         growth_interval=2000)
    else:
        plan = draw.plan(resume_at=at, resume_scale=65536.0, ceiling=3e3, growth_interval=2000)
    records = simulate.run(plan)
    start = settings(plan)
    if i % 3 == 0:  # no mark where it resumed
        text = write.own(records, start=start)
    else:
        text = write.own(records[:at], start=start) + write.own(records[at:], start=start)
    return Case("resume", "resume_without_scaler", text, skips_of(records) | {"resume_without_scaler"})


def no_gradient(draw, i):
    plan = draw.plan(zero_from=0 if i % 2 else draw.r.randrange(100, 300), max_norm=1.0)
    made = case("zero", "no_gradient", plan, ["no_gradient"], [write.own, write.key_value][i % 2])
    return made


POSITIVE = [calibration, single_overflow, scale_collapse, scale_pinned, clip_always, clip_never,
            norm_after_clip, scaled("norm"), scaled("loss"), scale_logged_after, skips_as_failures,
            nan_without_overflow, nonfinite_loss, nonfinite_update, divergence_at_warmup_end, divergence,
            loss_spike, spike_same_data, retry_same_overflow, schedule_on_skips, small_last_window,
            resume_without_scaler, no_gradient]
EACH = 6
HEALTHY = 20


def all_cases(seed=2031):
    import near_misses
    draw = Draw(seed)
    cases = []
    for make in POSITIVE:
        cases += [make(draw, i) for i in range(EACH)]
    cases += [make(draw, i) for make in near_misses.ALL for i in range(near_misses.EACH)]
    while len(cases) < 200:
        cases.append(healthy(draw, len(cases)))
    return cases
