"""What ormas-monitor costs a training loop with every step looked at: the models, the loop and the
figures of tests/monitor/bench/monitor_bench.cpp. Prints JSON. monitor_python.py STEPS"""
import json
import logging
import statistics
import sys
import tempfile
import time

import torch
from ormas_monitor import Monitor
from torch import nn

BLOCK = 10
STEPS = int(sys.argv[1])


def three_layers():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                         nn.Linear(64, 10))


def many_wide():
    return nn.Sequential(*(layer for _ in range(24) for layer in (nn.Linear(256, 256), nn.ReLU())))


def many_small():
    return nn.Sequential(*(layer for _ in range(100)
                           for layer in (nn.Linear(64, 64), nn.LayerNorm(64))))


MODELS = (("3 Linear", three_layers, 32), ("24 x Linear 256", many_wide, 256),
          ("100 x Linear 64 + LayerNorm", many_small, 64))


def cpu_us():
    return time.thread_time() * 1e6


class Loop:
    def __init__(self, make, width):
        self.net = make()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-4)
        self.x = torch.randn(32, width)

    def step(self, monitor):
        """The step's microseconds of CPU without the monitor, and the monitor's."""
        start = cpu_us()
        self.optimizer.zero_grad()
        loss = self.net(self.x).square().mean()
        loss.backward()
        before = cpu_us()
        if monitor:
            monitor.step(loss)
        after = cpu_us()
        self.optimizer.step()
        return cpu_us() - after + before - start, after - before


def measured(name, make, width, folder):
    torch.manual_seed(1)
    loop = Loop(make, width)
    without, bare, checks, watched = [], [], [], []
    for block in range(-1, STEPS // BLOCK):
        plain = [loop.step(None) for _ in range(BLOCK)]
        # Made anew for each block, since its hooks slow every forward while it is there.
        monitor = Monitor(loop.net, loop.optimizer, out=f"{folder}/{name}/{block}", check_every=1,
                          verbose=False)
        with_it = [loop.step(monitor) for _ in range(BLOCK)]
        monitor.close(report=False)
        if block < 0:
            continue  # warms up
        bare += [own for own, _ in plain]
        checks += [monitors for _, monitors in with_it[1:]]  # the first looks at the model too
        without.append(sum(own for own, _ in plain[1:]))
        watched.append(sum(map(sum, with_it[1:])))
    check, step = statistics.median(checks), statistics.median(bare)
    ratios = [a / b for a, b in zip(watched, without)]
    return {"model": name, "step_us": step, "check_us": check, "share": check / step,
            "loop_ratio": statistics.median(ratios)}


torch.set_num_threads(1)
logging.disable()
with tempfile.TemporaryDirectory() as work:
    print(json.dumps([measured(*model, work) for model in MODELS]))
