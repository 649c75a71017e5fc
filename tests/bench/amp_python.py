"""What torch.amp.GradScaler takes for scale, step and update on a tiny model: prints JSON."""
import json
import time

import torch

ROUNDS = 9
REPEATS = 500

torch.set_num_threads(1)
parameters = [torch.zeros(16) for _ in range(4)]
for parameter in parameters:
    parameter.grad = torch.rand(16) - 0.5
optimizer = torch.optim.SGD(parameters, lr=0.0)
scaler = torch.amp.GradScaler("cpu")
loss = torch.ones(())
times = []
for _ in range(ROUNDS + 1):
    start = time.perf_counter()
    for _ in range(REPEATS):
        scaler.scale(loss)
        scaler.step(optimizer)
        scaler.update()
    times.append((time.perf_counter() - start) / REPEATS * 1e6)
print(json.dumps({"median_us": sorted(times[1:])[ROUNDS // 2]}))
