"""Hand-ins that leave the thread changed, keep what is not theirs, throw where nobody looks, never end or
hand back what no tensor should be: each ends in a verdict that says what was seen, never in a fault of
the grader; and whoever only left something changed loses nothing by it."""
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

STEP = """#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include "step_order.hpp"
namespace step_order {
namespace amp = gradlab::amp;
void mixed_step(const Model& model, torch::optim::Optimizer& given, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  torch::optim::Optimizer* optimizer = &given;
  const auto* weights = &model.weights;
  // before
  optimizer->zero_grad();
  torch::Tensor loss;
  {
    const amp::AutocastGuard region(torch::kCPU, torch::kHalf);
    loss = torch::mse_loss(model.forward(batch.x), batch.y);
  }
  // loss
  scaler.scale(loss).backward();
  scaler.unscale_(*optimizer);
  amp::clip_grad_norm_(*weights, max_norm);
  scaler.step(*optimizer);
  scaler.update();
  // after
}
}  // namespace step_order
"""

PASS = """#include <ATen/autocast_mode.h>
#include "autocast.hpp"
namespace autocast {
Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  const bool was_on = at::autocast::is_autocast_enabled(at::kCPU);
  const auto before = at::autocast::get_autocast_dtype(at::kCPU);
  at::autocast::increment_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, dtype);
  torch::Tensor output, loss;
  try {
    output = model.forward(batch.x);
    loss = torch::mse_loss(output, batch.y);
  } catch (...) {
    // thrown
    at::autocast::set_autocast_enabled(at::kCPU, was_on);
    at::autocast::set_autocast_dtype(at::kCPU, before);
    at::autocast::clear_cache();
    at::autocast::decrement_nesting();
    throw;
  }
  // loss
  at::autocast::set_autocast_enabled(at::kCPU, was_on);
  at::autocast::set_autocast_dtype(at::kCPU, before);
  at::autocast::clear_cache();
  at::autocast::decrement_nesting();
  // after
  return {output, loss};
}
}  // namespace autocast
"""

UNSCALE = """#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include "loss_scaling.hpp"
namespace loss_scaling {
void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  // before
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (!parameter.grad().defined()) continue;
      if (!parameter.grad().isfinite().all().item<bool>()) found_inf = true;
      parameter.grad().mul_(1 / scale);
    }
  }
  // after
}
}  // namespace loss_scaling
"""

# Of a lab: its plain answer to task 1, and what each hand-in adds to it: where, what, the verdicts of
# task 1 that are right, and words of which the record must hold one.
UNRULY = {
    "step_order": (STEP, {
        "as_it_should_be": ("// after", "", {"pass"}, ()),
        "leaves_autocast_on": (
            "// after", "at::autocast::set_autocast_enabled(at::kCPU, true);", {"fail"},
            ("calls that left autocast on",)),
        "leaves_double_as_default": ("// after", "torch::set_default_dtype("
                                     "caffe2::TypeMeta::Make<double>());", {"pass"}, ()),
        "leaves_eight_threads": ("// after", "at::set_num_threads(8);", {"pass"}, ()),
        "leaves_gradients_off": ("// after", "torch::GradMode::set_enabled(false);", {"fail"},
                                 ("does not require grad",)),
        "seeds_the_generator": ("// before", "torch::manual_seed(1); torch::rand({3});", {"pass"},
                                ()),
        "keeps_the_first_weights": (
            "// before", "static const auto first = model.weights; weights = &first;", {"fail"}, ()),
        "keeps_the_first_optimizer": (
            "// before", "static torch::optim::Optimizer* first = &given; optimizer = first;",
            {"fail", "crashed", "time_limit", "memory_limit"}, ()),
        "updates_twice": ("// after", "scaler.update();", {"fail"}, ("No inf checks",)),
        "takes_an_optimizer_of_its_own": (
            "// before", "torch::optim::SGD own(model.weights, 0.5); optimizer = &own;", {"fail"},
            ()),
        "throws_in_a_hook": (
            "// loss", 'loss.register_hook([](const torch::Tensor&) { throw std::runtime_error('
            '"thrown in a hook"); });', {"fail"}, ("thrown in a hook",)),
        "throws_a_number_in_a_hook": (
            "// loss", "loss.register_hook([](const torch::Tensor&) { throw 7; });",
            {"fail", "crashed"}, ()),
        "never_stops_building_a_graph": ("// loss", "for (;;) loss = loss * 1.0;",
                                         {"time_limit", "memory_limit"}, ()),
        "loses_the_graph": ("// loss", "loss = loss.detach();", {"fail"},
                            ("does not require grad",)),
        "loses_the_loss": ("// loss", "loss = torch::Tensor();", {"fail"}, ("undefined",)),
    }),
    "autocast": (PASS, {
        "as_it_should_be": ("// after", "", {"pass"}, ()),
        "leaves_autocast_on": (
            "// after", "at::autocast::set_autocast_enabled(at::kCPU, true);", {"fail"},
            ("autocast on",)),
        "leaves_it_on_where_the_model_throws": ("// thrown", "throw;", {"fail"}, ("autocast on",)),
        "leaves_double_as_default": ("// after", "torch::set_default_dtype("
                                     "caffe2::TypeMeta::Make<double>());", {"fail"},
                                     ("default dtype float64",)),
        "leaves_gradients_off": ("// after", "torch::GradMode::set_enabled(false);", {"fail"},
                                 ("gradients off",)),
        "hands_back_nothing": ("// loss", "output = torch::Tensor(); loss = torch::Tensor();",
                               {"fail"}, ("undefined", "none")),
        "hands_back_another_shape": ("// loss", "output = output.reshape({-1, 1, 1});", {"fail"},
                                     ("shape",)),
        "hands_back_another_dtype": ("// loss", "loss = loss.to(torch::kDouble);", {"fail"},
                                     ("float64",)),
        "loses_the_graph": ("// loss", "loss = loss.detach();", {"fail"},
                            ("leads back to no parameter",)),
        "throws_in_a_hook": (
            "// loss", 'if (output.requires_grad()) output.register_hook([](const torch::Tensor&) {'
            ' throw std::runtime_error("thrown in a hook"); });', {"fail"}, ("thrown in a hook",)),
    }),
    "loss_scaling": (UNSCALE, {
        "as_it_should_be": ("// after", "", {"pass"}, ()),
        "leaves_everything_changed": (
            "// after", "torch::set_default_dtype(caffe2::TypeMeta::Make<double>());"
            "torch::GradMode::set_enabled(false); at::set_num_threads(8); torch::manual_seed(1);"
            "at::autocast::set_autocast_enabled(at::kCPU, true);", {"pass"}, ()),
        "keeps_the_first_gradients": (
            "// before", "static const auto first = groups; if (!first.empty() && !groups.empty())"
            "{ const_cast<std::vector<std::vector<torch::Tensor>>&>(groups) = first; }", {"fail"},
            ()),
        "takes_the_gradients_away": (
            "// after", "for (auto& group : groups) for (auto parameter : group)"
            " parameter.mutable_grad() = torch::Tensor();", {"fail"}, ("none",)),
        "puts_a_number_there": (
            "// after", "for (auto& group : groups) for (auto parameter : group)"
            " parameter.mutable_grad().resize_({0});", {"fail"}, ()),
        "never_ends": ("// before", "for (volatile bool more = true; more;) {}", {"time_limit"},
                       ()),
    }),
}


@pytest.fixture(scope="module", params=sorted(UNRULY))
def graded(request, tmp_path_factory):
    lab, folder = request.param, tmp_path_factory.mktemp(request.param)
    answer, hand_ins = UNRULY[lab]
    for name, (place, added, _, _) in hand_ins.items():
        assert answer.count(place) == 1
        (folder / "class" / name).mkdir(parents=True)
        (folder / "class" / name / f"{lab}.cpp").write_text(answer.replace(place, added))
    ran = subprocess.run([ROOT / "gradlab", "grade", folder / "class", "--lab", lab, "--seed", "3",
                          "--out", folder / "results"], cwd=ROOT,
                         env={**os.environ, "GRADLAB_ROOT": str(ROOT)}, text=True,
                         capture_output=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    records = [json.loads(file.read_text()) for file in (folder / "results/records").iterdir()]
    return lab, {record["student"]: record for record in records}


def test_none_is_a_fault_of_the_grader(graded):
    lab, records = graded
    assert set(records) == set(UNRULY[lab][1])
    for name, record in records.items():
        verdicts = {record["verdict"]} | {check["verdict"] for task in record["tasks"]
                                          for check in task["checks"]}
        assert not verdicts & {"grader_error", "compile_error"}, (name, record["diagnostics"])


def test_verdict_says_what_was_seen(graded):
    lab, records = graded
    wrong = {}
    for name, (_, _, verdicts, words) in UNRULY[lab][1].items():
        task = records[name]["tasks"][0]
        text = json.dumps(task)
        if task["verdict"] not in verdicts or (words and not any(word in text for word in words)):
            wrong[name] = task["verdict"], [(check["name"], check["verdict"], check["message"][:300])
                                            for check in task["checks"]][:4]
    assert wrong == {}
