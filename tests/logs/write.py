"""Records as logs: gradlab's own format, and the public shapes of other trainers. Fields that a format
does not have are lost, as they are in life."""
import json
import math


def strict(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def own(records, start=None, drop=(), events=(), end=None):
    lines = [json.dumps({"event": "run_start", "format": "gradlab-log-1", **(start or {})})]
    by_step = {}
    for event in events:
        by_step.setdefault(event["step"], []).append(event)
    for record in records:
        kept = {name: strict(value) for name, value in record.items() if name not in drop}
        lines.append(json.dumps({"event": "step", **kept}))
        lines += [json.dumps({name: strict(value) for name, value in event.items()})
                  for event in by_step.get(record["step"], [])]
    lines.append(json.dumps({"event": "run_end", "steps": len(records), **(end or {})}))
    return "\n".join(lines) + "\n"


def key_value(records):
    return "".join(
        f"step={r['step']} loss={r['loss']:.5f} grad_norm={r['norm']:.5f} scale={r['scale']:g} "
        f"lr={r['lr']:.8e} skipped={int(r['skipped'])} max_norm={r['max_norm']}\n" for r in records)


def csv(records):
    rows = ["epoch,lr,step,train_loss,grad_norm,loss_scale,val_loss"]
    for r in records:
        rows.append(f"{r['epoch']},{r['lr']!r},{r['step']},{r['loss']!r},{r['norm']!r},{r['scale']!r},")
        if r["step"] % 100 == 99:
            rows.append(f"{r['epoch']},,{r['step']},,,,{r['loss'] * 1.1!r}")
    return "\n".join(rows) + "\n"


def trainer_state(records, every=1):
    history = []
    for r in records[::every]:
        history.append({"epoch": (r["step"] + 1) / 100, "grad_norm": r["norm"],
                        "learning_rate": r["lr"], "loss": r["loss"], "step": r["step"]})
    history.append({"epoch": 6.0, "step": records[-1]["step"], "total_flos": 1.0, "train_loss": 0.5,
                    "train_runtime": 10.0})
    return json.dumps({"best_metric": None, "epoch": 6.0, "log_history": history, "max_steps": 600},
                      indent=2) + "\n"


def megatron(records, every=1):
    lines, skips, good = [], 0, None
    for r in records:
        skips += int(r["skipped"])
        good = r if not r["skipped"] else good
        if (r["step"] + 1) % every:
            continue
        loss = f" lm loss: {good['loss']:.6E} |" if good else ""
        norm = f" grad norm: {good['norm']:.3f} |" if good else ""
        lines.append(
            f" iteration {r['step'] + 1:8d}/{len(records):8d} | consumed samples: {16 * (r['step'] + 1):12d} |"
            f" elapsed time per iteration (ms): 812.4 | learning rate: {r['lr']:.6E} | global batch size:"
            f"    16 |{loss} loss scale: {r['scale_after']:.1f} |{norm} number of skipped iterations:"
            f" {skips:3d} | number of nan iterations:   0 |")
        skips, good = 0, None
    return "\n".join(lines) + "\n"


def deepspeed(records, every=10):
    lines, total = [], 0
    for r in records:
        if r["skipped"]:
            total += 1
            lines.append("[2031-03-04 05:06:07,008] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] "
                         f"OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {r['scale']:.0f}, "
                         f"reducing to {r['scale_after']:.0f}")
        if (r["step"] + 1) % every == 0:
            lines.append("[2031-03-04 05:07:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] "
                         f"step={r['step'] + 1}, skipped={total}, lr=[{r['lr']!r}, {r['lr']!r}], mom=[(0.9, 0.95)]")
    return "\n".join(lines) + "\n"


def fairseq(records):
    lines = []
    for r in records:
        if r["skipped"]:
            lines.append("2031-03-04 05:06:07 | INFO | fairseq.trainer | NOTE: gradient overflow detected, "
                         f"ignoring gradient, setting loss scale to: {r['scale_after']!r}")
            continue
        fields = {"epoch": r["epoch"] + 1, "loss": f"{r['loss']:.4f}", "ppl": "2.0", "num_updates": str(r["step"]),
                  "lr": f"{r['lr']:.6g}", "gnorm": f"{r['norm']:.4f}", "clip": "100" if r["clipped"] else "0",
                  "loss_scale": f"{r['scale_after']:g}", "train_wall": "0"}
        lines.append("2031-03-04 05:06:07 | INFO | train_inner | " + json.dumps(fields))
    return "\n".join(lines) + "\n"


def hf_stdout(records):
    return "".join(str({"loss": r["loss"], "grad_norm": r["norm"], "learning_rate": r["lr"],
                        "epoch": (r["step"] + 1) / 100}) + "\n" for r in records)


def nanogpt(records):
    return "".join(f"iter {r['step']}: loss {r['loss']:.4f}, time 101.25ms, mfu 12.50%\n" for r in records)


def apex(records):
    lines = []
    for r in records:
        if r["skipped"]:
            lines.append("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
                         f"{r['scale_after']!r}")
        lines.append(f"step: {r['step']} loss: {r['loss']:.4f} lr: {r['lr']:.8f}")
    return "\n".join(lines) + "\n"


def swin(records):
    lines, mean = [], 0.0
    for r in records:
        mean = mean + r["norm"]
        lines.append(f"Train: [{r['epoch']}/30][{r['batch']}/100]\teta 0:02:55 lr {r['lr']:.6f}\ttime 0.5010 (0.5034)\t"
                     f"loss {r['loss']:.4f} ({r['loss']:.4f})\tgrad_norm {r['norm']:.4f} ({mean:.4f})\t"
                     f"loss_scale {r['scale_after']:.4f} ({r['scale_after']:.4f})\tmem 1234MB")
    return "\n".join(lines) + "\n"


def mmengine(records):
    return "".join(
        f"2031/03/04 05:06:07 - mmengine - INFO - Epoch(train)  [{r['epoch'] + 1}][{r['batch'] + 1:3d}/100]  "
        f"lr: {r['lr']:.4e}  eta: 0:10:00  time: 0.5  data_time: 0.1  memory: 1234  grad_norm: {r['norm']:.4f}  "
        f"loss: {r['loss']:.4f}\n" for r in records)
