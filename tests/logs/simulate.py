"""Training that never ran: a loss curve, gradients, and PyTorch's GradScaler arithmetic step by step,
from a seed. Everything a log can show follows from it, faults in training and in logging included."""
import math
import random
from dataclasses import dataclass, field


@dataclass
class Scaler:
    """torch.amp.GradScaler's rule: halve on found_inf, double after growth_interval good steps, never
    beyond float32. `most` is a cap that some trainers put on it."""
    scale: float = 65536.0
    growth_interval: int = 2000
    backoff: float = 0.5
    most: float = math.inf
    least: float = 0.0
    tracker: int = 0

    def update(self, found_inf):
        if found_inf:
            self.scale = max(self.scale * self.backoff, self.least)
            self.tracker = 0
            return
        self.tracker += 1
        if self.tracker == self.growth_interval:
            self.tracker = 0
            if self.scale * 2 <= min(self.most, 3.4028234663852886e38):
                self.scale *= 2


@dataclass
class Plan:
    """What happens in a run. Steps are iterations, skipped ones too."""
    seed: int = 0
    steps: int = 600
    init_scale: float = 65536.0
    growth_interval: int = 2000
    most_scale: float = math.inf
    least_scale: float = 0.0
    ceiling: float = 3e5              # scale x norm above this overflows
    overflow_at: set = field(default_factory=set)
    overflow_from: int = -1           # every step from here on
    loss_from: float = 2.5
    loss_to: float = 0.4
    noise: float = 0.04
    norm: float = 0.6
    norm_noise: float = 0.25
    peak_lr: float = 1e-3
    warmup: int = 0
    schedule: str = "cosine"          # cosine, constant, epoch
    hold_on_skip: bool = True
    max_norm: float = 1.0
    epoch_steps: int = 100
    spikes: dict = field(default_factory=dict)   # step -> factor of the loss
    spike_batch: int = -1             # the same place of every epoch
    spike_factor: float = 3.0
    nan_at: dict = field(default_factory=dict)   # step -> loss value
    nan_from: int = -1                # to the end
    nan_skips: bool = True            # the scaler sees NaN gradients
    diverge_from: int = -1
    diverge_rate: float = 0.03
    micro_batches: int = 0
    last_window: int = 0              # micro-batches of an epoch's last step, divided by the full number
    divides_right: bool = False
    resume_at: int = -1
    resume_scale: float = 0.0         # 0: the state was kept
    resume_tracker: bool = True
    zero_from: int = -1
    apply_nonfinite: bool = False     # no scaler's guard: steps with inf gradients


def rate(plan, updates):
    if plan.schedule == "constant":
        return plan.peak_lr
    if plan.schedule == "epoch":
        return plan.peak_lr * 0.7 ** (updates // plan.epoch_steps)
    if plan.warmup and updates < plan.warmup:
        return plan.peak_lr * (updates + 1) / plan.warmup
    part = (updates - plan.warmup) / max(plan.steps - plan.warmup, 1)
    return plan.peak_lr * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * min(part, 1))))


def base_loss(plan, step, noise):
    part = step / plan.steps
    loss = plan.loss_to + (plan.loss_from - plan.loss_to) * math.exp(-4 * part)
    if 0 <= plan.diverge_from <= step:
        low = plan.loss_to + (plan.loss_from - plan.loss_to) * math.exp(-4 * plan.diverge_from / plan.steps)
        loss = min(low * math.exp(plan.diverge_rate * (step - plan.diverge_from)), 40.0)
    return loss * (1 + plan.noise * noise)


def run(plan):
    """The true records, one a step."""
    random_numbers = random.Random(plan.seed)
    scaler = Scaler(plan.init_scale, plan.growth_interval, most=plan.most_scale, least=plan.least_scale)
    updates, records = 0, []
    for step in range(plan.steps):
        noise, size = random_numbers.gauss(0, 1), random_numbers.gauss(0, 1)
        place = step % plan.epoch_steps
        if step == plan.resume_at and plan.resume_scale:
            scaler.scale, scaler.tracker = plan.resume_scale, 0
        elif step == plan.resume_at and not plan.resume_tracker:
            scaler.tracker = 0
        loss = base_loss(plan, step, noise)
        factor = plan.spikes.get(step, plan.spike_factor if place == plan.spike_batch and step > 40 else 1)
        loss *= factor
        norm = plan.norm * math.exp(plan.norm_noise * size) * (1 + 0.5 * (factor - 1))
        if 0 <= plan.diverge_from <= step:
            norm *= math.exp(0.5 * plan.diverge_rate * (step - plan.diverge_from))
        micro = plan.micro_batches
        if plan.last_window and place == plan.epoch_steps - 1:
            micro = plan.last_window
            if not plan.divides_right:
                norm *= plan.last_window / (plan.micro_batches or 8)
        if 0 <= plan.zero_from <= step:
            norm = 0.0
        bad = plan.nan_at.get(step, math.nan if 0 <= plan.nan_from <= step else None)
        found_inf = (step in plan.overflow_at or 0 <= plan.overflow_from <= step
                     or scaler.scale * norm > plan.ceiling)
        if bad is not None:
            loss, norm = bad, math.nan
            found_inf = plan.nan_skips
        elif found_inf:
            norm = math.inf
        used, lr = scaler.scale, rate(plan, updates)
        tracker = scaler.tracker
        scaler.update(found_inf)
        skipped = found_inf and not plan.apply_nonfinite
        if not (skipped and plan.hold_on_skip):
            updates += 1
        records.append({
            "step": step, "loss": loss, "scale": used, "scale_after": scaler.scale, "norm": norm,
            "clipped": bool(not skipped and math.isfinite(norm) and norm > plan.max_norm),
            "skipped": skipped, "lr": lr, "max_norm": plan.max_norm, "growth_tracker": tracker,
            "epoch": step // plan.epoch_steps, "batch": place, "micro_batches": micro,
        })
    return records
