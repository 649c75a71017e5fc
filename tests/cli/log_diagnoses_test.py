"""What `gradlab log` tells of two hundred simulated logs whose true causes are known, and that the
instructor's guide holds the figures that are measured here."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/logs"))

import cases  # noqa: E402
import near_misses  # noqa: E402
import score  # noqa: E402
import simulate  # noqa: E402


@pytest.fixture(scope="module", params=list(score.SETS))
def measured(request):
    return request.param, score.measure(score.SETS[request.param]())


def test_little_is_told_wrong(measured):
    name, result = measured
    assert result.logs == 200
    assert result.precision >= {"named": 1.0, "mixed": 0.99}[name], result.faults
    assert result.recall >= 0.99, result.faults


def test_the_guide_holds_what_is_measured(measured):
    name, result = measured
    guide = score.GUIDE.read_text(encoding="utf-8")
    begin, end = score.section_of(guide, name)
    assert guide[begin:end] == result.table(), "python3 tests/logs/score.py --write"


def test_each_diagnosis_has_logs_that_show_it():
    kinds = {case.kind for case in cases.all_cases()}
    assert set(score.names()) <= kinds and "healthy" in kinds


def test_each_near_miss_says_what_it_comes_close_to():
    for make in near_misses.ALL:
        close_to = make.__doc__.split(":")[0]
        assert close_to in score.names(), make.__name__


def test_the_simulated_scaler_is_pytorch_s():
    """Traces worked out from GradScaler's rule: interval 3 from 8 with an inf at the fourth step, and no
    growth into infinity."""
    scaler, seen = simulate.Scaler(8.0, growth_interval=3), []
    for found_inf in (False, False, False, True, False, False, False, False):
        scaler.update(found_inf)
        seen.append((scaler.scale, scaler.tracker))
    assert seen == [(8, 1), (8, 2), (16, 0), (8, 0), (8, 1), (8, 2), (16, 0), (16, 1)]
    full = simulate.Scaler(2e38, growth_interval=1)
    full.update(False)
    assert (full.scale, full.tracker) == (2e38, 0)


def test_a_skip_leaves_no_update_and_an_eager_schedule_does():
    held = simulate.run(simulate.Plan(steps=60, overflow_at={30}, warmup=50, ceiling=1e9))
    eager = simulate.run(simulate.Plan(steps=60, overflow_at={30}, warmup=50, ceiling=1e9, hold_on_skip=False))
    assert held[30]["lr"] == held[31]["lr"] and eager[30]["lr"] != eager[31]["lr"]
