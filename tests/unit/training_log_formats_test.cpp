// Lines in the public shape of each format, and what has to be read out of them.
#include <gmock/gmock.h>

#include <cmath>

#include "training_log/number.hpp"
#include "training_log/readers/pairs.hpp"
#include "training_log_fixture.hpp"

namespace gradlab::training_log {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// The one step that a line holds, and whose line it is.
Step only_step(const std::string& line, Format format) {
  Kept kept;
  for (const LineReader read : line_readers()) {
    const Found found = read(line, kept);
    if (!found.mine) continue;
    EXPECT_EQ(name_of(found.format), std::string(name_of(format))) << line;
    break;
  }
  EXPECT_EQ(kept.steps.size(), 1u) << line;
  return kept.steps.empty() ? Step{} : kept.steps.front();
}

Event only_event(const std::string& line, Format format) {
  Kept kept;
  const Found found = read_overflow(line, kept);
  EXPECT_TRUE(found.mine && found.format == format) << line;
  EXPECT_EQ(kept.events.size(), 1u);
  return kept.events.empty() ? Event{} : kept.events.front();
}

TEST(TrainingLogFormats, own_record_with_words_for_what_is_not_finite) {
  const Step step = only_step(
      R"({"event":"step","step":7,"loss":"nan","scale":65536.0,"scale_after":32768.0,"norm":"inf",)"
      R"("clipped":false,"skipped":true,"lr":0.001,"unknown":[1]})",
      Format::kGradlab);
  EXPECT_THAT(step.step, Optional(7));
  EXPECT_TRUE(std::isnan(*step.loss));
  EXPECT_THAT(step.norm, Optional(HUGE_VAL));
  EXPECT_THAT(step.scale, Optional(65536.0));
  EXPECT_THAT(step.scale_after, Optional(32768.0));
  EXPECT_THAT(step.skipped, Optional(true));
  EXPECT_THAT(step.clipped, Optional(false));
  EXPECT_THAT(step.lr, Optional(0.001));
}

TEST(TrainingLogFormats, null_is_absent) {
  const Step step = only_step(
      R"({"event":"step","step":1,"loss":2,"scale":null,"scale_after":null})", Format::kGradlab);
  EXPECT_FALSE(step.scale);
  EXPECT_FALSE(step.scale_after);
}

TEST(TrainingLogFormats, ormas_diary_and_metrics) {
  Kept kept;
  const std::string skip =
      R"({"seq": 3, "time": 1700000000.1, "event": "skipped_step", "step": 50, "severity": "info", )"
      R"("scale": 65536.0, "layers": ["a.0"], "prev": "00", "hash": "ff"})";
  EXPECT_EQ(read_json_line(skip, kept).format, Format::kOrmasDiary);
  ASSERT_EQ(kept.events.size(), 1u);
  EXPECT_EQ(kept.events[0].name, "skipped_step");
  EXPECT_THAT(kept.events[0].severity, Optional(Severity::kInfo));
  EXPECT_THAT(kept.events[0].scale, Optional(65536.0));
  const Step row =
      only_step(R"({"step":100,"loss":1.5,"grad":{"a.0":3.0,"a.1":4.0},"stuck":{"a.0":[0,0,0,0]}})",
                Format::kOrmasMetrics);
  EXPECT_THAT(row.norm, Optional(5.0));  // the layers' norms make the whole one's
  EXPECT_EQ(row.layers.size(), 2u);
}

TEST(TrainingLogFormats, deepspeed) {
  const Event kept = only_event(
      "[2031-03-04 05:06:07,008] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! "
      "Rank "
      "0 Skipping step. Attempted loss scale: 4096, but hysteresis is 2. Reducing hysteresis to 1",
      Format::kDeepSpeed);
  EXPECT_THAT(kept.scale, Optional(4096.0));
  EXPECT_THAT(kept.scale_after, Optional(4096.0));
  const Event lowered = only_event(
      "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536.0, reducing to "
      "32768.0",
      Format::kDeepSpeed);
  EXPECT_THAT(lowered.scale_after, Optional(32768.0));
  const Step step = only_step(
      "[2031-03-04 05:07:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=3, "
      "lr=[0.0002, 0.0002], mom=[(0.9, 0.95), (0.9, 0.95)]",
      Format::kDeepSpeed);
  EXPECT_THAT(step.step, Optional(20));
  EXPECT_THAT(step.skipped_total, Optional(3));
  EXPECT_THAT(step.lr, Optional(0.0002));
}

TEST(TrainingLogFormats, megatron_with_loss_and_norm_missing) {
  const Step step = only_step(
      " iteration        7/     500 | consumed samples:          112 | elapsed time per iteration "
      "(ms): 812.4 | learning rate: 3.500E-06 | global batch size:    16 | loss scale: 8192.0 | "
      "number "
      "of skipped iterations:   1 | number of nan iterations:   0 |",
      Format::kMegatron);
  EXPECT_THAT(step.step, Optional(7));
  EXPECT_FALSE(step.loss);
  EXPECT_FALSE(step.norm);
  EXPECT_THAT(step.scale, Optional(8192.0));
  EXPECT_THAT(step.skips, Optional(1));
  EXPECT_THAT(step.lr, Optional(3.5e-6));
}

TEST(TrainingLogFormats, hugging_face_dict_and_its_summary) {
  const Step step =
      only_step("{'loss': 1.75, 'grad_norm': 0.84375, 'learning_rate': 1.2e-05, 'epoch': 0.4}",
                Format::kPythonDict);
  EXPECT_THAT(step.loss, Optional(1.75));
  EXPECT_THAT(step.norm, Optional(0.84375));
  EXPECT_THAT(step.epoch, Optional(0.4));
  EXPECT_FALSE(step.step);
  Kept kept;
  const Found summary =
      read_python_dict("{'train_runtime': 12.1, 'train_loss': 0.9, 'epoch': 1.0}", kept);
  EXPECT_TRUE(summary.mine);
  EXPECT_TRUE(kept.steps.empty());
}

TEST(TrainingLogFormats, trainer_state_with_bare_nan_on_many_lines_or_one) {
  const std::string pretty =
      "{\n  \"best_metric\": null,\n  \"log_history\": [\n    {\n      \"epoch\": 0.1,\n"
      "      \"grad_norm\": NaN,\n      \"loss\": 2.5,\n      \"learning_rate\": 1e-05,\n"
      "      \"step\": 10\n    },\n    {\n      \"epoch\": 0.1,\n      \"eval_loss\": 9.0,\n"
      "      \"step\": 10\n    },\n    {\n      \"epoch\": 0.2,\n      \"loss\": NaN,\n"
      "      \"learning_rate\": 1e-05,\n      \"step\": 20\n    }\n  ],\n  \"max_steps\": 100\n}\n";
  std::string minified;
  for (const char c : pretty) minified += c == '\n' ? ' ' : c;
  for (const std::string& text : {pretty, minified}) {
    const auto steps = steps_of(text);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_THAT(steps[0].step, Optional(10));
    EXPECT_TRUE(std::isnan(*steps[0].norm));
    EXPECT_THAT(steps[0].loss, Optional(2.5));
    EXPECT_TRUE(std::isnan(*steps[1].loss));
    EXPECT_THAT(report_of(text).formats, ElementsAre(Format::kTrainerState));
  }
}

TEST(TrainingLogFormats, lightning_csv_with_empty_cells) {
  const auto steps = steps_of(
      "epoch,step,train_loss,val_loss,grad_norm\r\n0,9,2.5,,1.25\r\n0,9,,2.4,\r\n0,19,nan,,"
      "inf\r\n");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(steps[0].loss, Optional(2.5));
  EXPECT_THAT(steps[0].norm, Optional(1.25));
  EXPECT_TRUE(std::isnan(*steps[1].loss));
  EXPECT_THAT(steps[1].norm, Optional(HUGE_VAL));
}

TEST(TrainingLogFormats, fairseq_json_plain_and_overflow) {
  const Step json = only_step(
      R"(2031-03-04 05:06:07 | INFO | train_inner | {"epoch": 2, "loss": "5.375", "num_updates": )"
      R"("100", "lr": "0.0005", "gnorm": "1.25", "clip": "100", "loss_scale": "128"})",
      Format::kFairseq);
  EXPECT_THAT(json.step, Optional(100));
  EXPECT_THAT(json.loss, Optional(5.375));
  EXPECT_THAT(json.norm, Optional(1.25));
  EXPECT_THAT(json.clipped, Optional(true));
  EXPECT_THAT(json.scale, Optional(128.0));
  const Step plain = only_step(
      "epoch 002:     10 / 100 loss=8.125, ppl=279.2, wps=100, num_updates=110, lr=0.0005, "
      "gnorm=0.5, "
      "clip=0, loss_scale=64, train_wall=3",
      Format::kFairseq);
  EXPECT_THAT(plain.step, Optional(110));
  EXPECT_THAT(plain.epoch, Optional(2.0));
  EXPECT_THAT(plain.clipped, Optional(false));
  const Event overflow =
      only_event("NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 64.0",
                 Format::kFairseq);
  EXPECT_THAT(overflow.scale_after, Optional(64.0));
}

TEST(TrainingLogFormats, nanogpt) {
  const Step step = only_step("iter 40: loss nan, time 101.25ms, mfu 12.50%", Format::kNanoGpt);
  EXPECT_THAT(step.step, Optional(40));
  EXPECT_TRUE(std::isnan(*step.loss));
  Kept kept;
  EXPECT_TRUE(read_nanogpt("step 250: train loss 1.9000, val loss 2.1000", kept).mine);
  EXPECT_TRUE(kept.steps.empty());
}

TEST(TrainingLogFormats, apex_behind_a_progress_bar) {
  const Event event = only_event(
      " 12%|#2        | 12/100Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale "
      "to "
      "1.52587890625e-05",
      Format::kApex);
  EXPECT_THAT(event.scale_after, Optional(1.52587890625e-05));
}

TEST(TrainingLogFormats, swin_takes_the_value_and_not_the_mean) {
  const Step step = only_step(
      "Train: [1/30][50/400]\teta 0:02:55 lr 0.000021\ttime 0.5010 (0.5034)\tloss 6.1250 "
      "(6.2031)\tgrad_norm 1.5312 (inf)\tloss_scale 8192.0000 (9011.2000)\tmem 1234MB",
      Format::kSwin);
  EXPECT_THAT(step.step, Optional(450));
  EXPECT_THAT(step.epoch, Optional(1.0));
  EXPECT_THAT(step.loss, Optional(6.125));
  EXPECT_THAT(step.norm, Optional(1.5312));
  EXPECT_THAT(step.scale, Optional(8192.0));
  EXPECT_TRUE(step.earlier_skip);
  const Step timm =
      only_step("Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.95)  Time: 0.5s, 100.1/s  LR: 1.000e-06",
                Format::kSwin);
  EXPECT_THAT(timm.step, Optional(50));
  EXPECT_THAT(timm.loss, Optional(6.9));
  EXPECT_THAT(timm.lr, Optional(1e-6));
}

TEST(TrainingLogFormats, mmengine_and_mmcv) {
  const Step now = only_step(
      "2031/03/04 05:06:07 - mmengine - INFO - Epoch(train)  [2][ 50/100]  lr: 1.0000e-03  eta: "
      "0:10:00  time: 0.5  data_time: 0.1  memory: 1234  grad_norm: nan  loss: 0.5000",
      Format::kMmEngine);
  EXPECT_THAT(now.step, Optional(150));
  EXPECT_THAT(now.loss, Optional(0.5));
  EXPECT_TRUE(std::isnan(*now.norm));
  const Step before = only_step(
      "2021-03-04 05:06:07,008 - mmdet - INFO - Epoch [1][50/100]\tlr: 1.000e-03, eta: 0:10:00, "
      "time: "
      "0.5, memory: 1234, loss: 0.75, grad_norm: 2.5",
      Format::kMmEngine);
  EXPECT_THAT(before.step, Optional(50));
  EXPECT_THAT(before.norm, Optional(2.5));
  const Step iter =
      only_step("Iter(train) [  50/9000]  lr: 1.0e-02  loss: 1.25", Format::kMmEngine);
  EXPECT_THAT(iter.step, Optional(50));
}

TEST(TrainingLogFormats, names_with_values_in_several_writings) {
  for (const char* line :
       {"step=12 loss=0.5 grad_norm=1.25 scale=65536 lr=1e-3",
        "step: 12, loss: 0.5, gnorm: 1.25, loss_scale: 65536, lr: 1e-3",
        "step    12 | loss 0.5 | norm: 1.25 | scale 65536 | lr 1e-3",
        "[12:00:01] INFO train/loss=0.5 train/grad-norm=1.25 global_step=12/500 amp_scale=65536"}) {
    const Step step = only_step(line, Format::kKeyValue);
    EXPECT_THAT(step.step, Optional(12)) << line;
    EXPECT_THAT(step.loss, Optional(0.5)) << line;
    EXPECT_THAT(step.norm, Optional(1.25)) << line;
    EXPECT_THAT(step.scale, Optional(65536.0)) << line;
  }
}

TEST(TrainingLogFormats, prose_is_no_step) {
  Kept kept;
  for (const char* line : {"Loading model with loss function cross_entropy", "the loss was 3",
                           "lr=0.1", "step 12", "Epoch 3 done in 12 s", "val_loss=0.5 val_step=3",
                           "{\"a\": 1}", "{}", "iteration is fun"}) {
    for (const LineReader read : line_readers()) EXPECT_FALSE(read(line, kept).mine) << line;
  }
  EXPECT_TRUE(kept.steps.empty());
}

}  // namespace
}  // namespace gradlab::training_log
