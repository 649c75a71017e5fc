"""The same tests as usual_way/clipping_test.cpp."""
import math

import pytest
import torch

import clipping


def draw(count, scale):
    parameters = []
    for i in range(count):
        parameter = torch.zeros(i + 1, 3, requires_grad=True)
        if i % 4 != 3:
            parameter.grad = scale * torch.randn(i + 1, 3)
        parameters.append(parameter)
    return parameters


def copy(parameters):
    copies = [p.detach().clone().requires_grad_() for p in parameters]
    for new, old in zip(copies, parameters):
        new.grad = None if old.grad is None else old.grad.clone()
    return copies


def expect_same(got, want):
    for g, w in zip(got, want):
        assert (g.grad is None) == (w.grad is None)
        assert g.grad is None or torch.allclose(g.grad, w.grad, rtol=1e-5, atol=1e-8)


def test_norm_of_random_lists():
    torch.manual_seed(1)
    for i in range(20):
        parameters = draw(1 + i % 7, 3.0)
        total = sum(p.grad.square().sum().item() for p in parameters if p.grad is not None)
        assert clipping.total_norm(parameters) == pytest.approx(math.sqrt(total), abs=1e-4)


def test_clips_as_pytorch_does():
    torch.manual_seed(2)
    for i in range(20):
        got = draw(1 + i % 7, 3.0)
        want = copy(got)
        norm = torch.nn.utils.clip_grad_norm_(want, 1.0)
        assert clipping.clip_gradients(got, 1.0) == pytest.approx(norm.item(), abs=1e-4)
        expect_same(got, want)


def test_small_norm_is_left_alone():
    torch.manual_seed(3)
    got = draw(5, 1e-3)
    want = copy(got)
    clipping.clip_gradients(got, 1.0)
    expect_same(got, want)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_non_finite_norm_is_refused(bad):
    got = draw(3, 1.0)
    got[0].grad.fill_(bad)
    want = copy(got)
    with pytest.raises(RuntimeError):
        clipping.clip_gradients_checked(got, 1.0)
    assert torch.equal(got[1].grad, want[1].grad)


def test_waits_for_the_end_of_warmup():
    got = draw(5, 9.0)
    want = copy(got)
    assert not clipping.clip_after_warmup(got, 1.0, 9, 10)
    expect_same(got, want)
    assert clipping.clip_after_warmup(got, 1.0, 10, 10)
    assert clipping.total_norm(got) <= 1.0001
