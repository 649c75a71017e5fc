"""Logs that look like a diagnosis and are not it. Each says what it comes close to."""
import math

import simulate
import write
from cases import Case, case, settings, skips_of

EACH = 2


def calibration_that_ends_in_the_log(draw, i):
    """scale_collapse: a short log that ends while the scale still looks for its level."""
    plan = draw.plan(init_scale=2.0 ** 20, ceiling=100.0, norm=0.5)
    plan.steps = 8 + i
    return case("short_calibration", "near_miss", plan)


def golden_start(draw, i):
    """scale_collapse: ten and more halvings in a row at the start, then a healthy run."""
    return case("golden_start", "near_miss", draw.plan(init_scale=2.0 ** (24 + i), ceiling=2e4))


def long_streak_that_recovers(draw, i):
    """scale_collapse: a streak of skips in the middle that ends at a scale above 1."""
    start = draw.r.randrange(100, 300)
    return case("streak", "near_miss", draw.plan(overflow_at=set(range(start, start + 6 + i))))


def scale_below_one(draw, i):
    """scale_collapse: some models need a scale below 1, and train."""
    return case("below_one", "near_miss", draw.plan(init_scale=0.5, ceiling=0.4, norm=0.6,
                                                    growth_interval=200, max_norm=1.0))


def scale_waits_to_grow(draw, i):
    """scale_pinned: the scale stands still, for less than the growth interval."""
    plan = draw.plan(growth_interval=2000, init_scale=1024.0, ceiling=1e9)
    return case("waits", "near_miss", plan, start=settings(plan))


def static_scale(draw, i):
    """scale_pinned: a fixed scale, no growth tracker, no interval known."""
    plan = draw.plan(growth_interval=10**6, init_scale=128.0, ceiling=1e9)
    return case("static", "near_miss", plan, drop=("growth_tracker",))


def clips_often(draw, i):
    """clip_always: four steps of five."""
    return case("often", "near_miss", draw.plan(norm=1.25, norm_noise=0.25, max_norm=1.0))


def clips_rarely(draw, i):
    """clip_never: the largest norm is half the limit."""
    return case("rarely", "near_miss", draw.plan(norm=0.5, norm_noise=0.12, max_norm=2.0))


def norms_below_a_limit(draw, i):
    """norm_after_clip: norms with two digits that end below 1 by themselves."""
    records = simulate.run(draw.plan(norm=0.7, norm_noise=0.1, max_norm=1.0))
    for r in records:
        if math.isfinite(r["norm"]):
            r["norm"] = round(min(r["norm"], 0.99), 2)
            r["clipped"] = False
    return Case("two_digits", "near_miss", write.own(records), skips_of(records))


def norm_doubles_once(draw, i):
    """norm_scaled: the norm doubles by chance where the scale grew, once."""
    plan = draw.plan(growth_interval=300, init_scale=1024.0, ceiling=1e9, steps=500, max_norm=1e9)
    records = simulate.run(plan)
    for r in records[300:]:
        r["norm"] *= 2
    return Case("doubles", "near_miss", write.own(records, drop=("max_norm", "clipped")), skips_of(records))


def norm_rises_between_changes(draw, i):
    """norm_scaled: the norm rises slowly while the scale grows often."""
    plan = draw.plan(growth_interval=60, init_scale=256.0, ceiling=1e9, max_norm=1e9)
    records = simulate.run(plan)
    for r in records:
        r["norm"] *= 1 + r["step"] / 100
    return Case("rises", "near_miss", write.own(records, drop=("max_norm", "clipped")), skips_of(records))


def scale_after_in_its_field(draw, i):
    """scale_logged_after: both scales, each in its field."""
    return case("both_scales", "near_miss", draw.plan(overflow_at={150, 260}))


def skips_as_information(draw, i):
    """skips_as_failures: skipped_step with severity info, and a true alarm elsewhere."""
    records = simulate.run(draw.plan(overflow_at={120, 240}))
    events = [{"event": "skipped_step", "severity": "info", "step": r["step"], "scale": r["scale"]}
              for r in records if r["skipped"]]
    events.append({"event": "alarm", "severity": "warning", "step": 300, "layer": "fc1"})
    return Case("info", "near_miss", write.own(records, events=events, end={
        "counts": {"skipped_steps": len(events) - 1, "alarms": 1}}), skips_of(records))


def overflow_with_a_wild_loss(draw, i):
    """loss_spike: the loss of a skipped step is large and left no trace."""
    records = simulate.run(draw.plan(overflow_at={200}))
    records[200]["loss"] *= 8
    return Case("wild", "near_miss", write.own(records), skips_of(records))


def loss_falls_in_a_step(draw, i):
    """divergence: the loss falls to a new level and wanders there."""
    records = simulate.run(draw.plan(noise=0.05))
    for r in records[200:]:
        r["loss"] *= 0.8 * (1 + 0.1 * math.sin(r["step"] / 15))
    return Case("new_level", "near_miss", write.own(records), skips_of(records))


def rises_and_comes_back(draw, i):
    """divergence_at_warmup_end: a hump at the peak that comes down again."""
    plan = draw.plan(warmup=80, steps=600)
    records = simulate.run(plan)
    for r in records:
        r["loss"] *= 1 + 0.6 * math.exp(-((r["step"] - 110) / 25) ** 2)
    return Case("hump", "near_miss", write.own(records), skips_of(records))


def spikes_at_different_places(draw, i):
    """spike_same_data: two spikes, each at another place of its epoch."""
    return case("places", "near_miss", draw.plan(spikes={131: 3.0, 347: 3.5}, ceiling=1e9), ["loss_spike"])


def noisy_loss(draw, i):
    """loss_spike: a loss that is noisy all along."""
    return case("noisy", "near_miss", draw.plan(noise=0.12))


def retry_with_less(draw, i):
    """retry_same_overflow: the second run has a lower rate, and overflows elsewhere."""
    first, second = draw.plan(overflow_at={180}), draw.plan(overflow_at={260})
    second.seed = first.seed
    text = write.own(simulate.run(second), start=settings(second, lr=second.peak_lr / 2))
    return Case("changed", "near_miss", text, skips_of(simulate.run(second)),
                earlier=write.own(simulate.run(first), start=settings(first, lr=first.peak_lr)))


def rate_by_epoch(draw, i):
    """schedule_on_skips: a rate that changes once an epoch, next to a skip."""
    return case("by_epoch", "near_miss", draw.plan(schedule="epoch", overflow_at={99, 199, 200}))


def last_window_divided_right(draw, i):
    """small_last_window: fewer micro-batches, divided by their true number."""
    return case("divided", "near_miss", draw.plan(micro_batches=8, last_window=3, divides_right=True,
                                                  norm_noise=0.12))


def resume_with_state(draw, i):
    """resume_without_scaler: a second run_start that goes on with scale and tracker."""
    plan = draw.plan(ceiling=3e3)
    records = simulate.run(plan)
    text = write.own(records[:250], start=settings(plan)) + write.own(records[250:], start=settings(plan))
    return Case("state_kept", "near_miss", text, skips_of(records))


def zero_once(draw, i):
    """no_gradient: one batch without a gradient."""
    records = simulate.run(draw.plan())
    records[150]["norm"] = 0.0
    return Case("zero_once", "near_miss", write.own(records), skips_of(records))


ALL = [calibration_that_ends_in_the_log, golden_start, long_streak_that_recovers, scale_below_one,
       scale_waits_to_grow, static_scale, clips_often, clips_rarely, norms_below_a_limit,
       norm_doubles_once, norm_rises_between_changes, scale_after_in_its_field, skips_as_information,
       overflow_with_a_wild_loss, loss_falls_in_a_step, rises_and_comes_back, spikes_at_different_places,
       noisy_loss, retry_with_less, rate_by_epoch, last_window_divided_right, resume_with_state, zero_once]
