// Whatever stands in a file, reading it ends in a report. Seeded mutations of lines of every
// format; the asan preset makes the memory's faults seen too.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "training_log/output/text.hpp"
#include "training_log_fixture.hpp"

namespace gradlab::training_log {
namespace {

constexpr const char* kLines[] = {
    "{\"event\":\"run_start\",\"seed\":1,\"growth_interval\":5}\n",
    "{\"event\":\"step\",\"step\":1,\"loss\":2.5,\"scale\":8,\"norm\":\"inf\",\"skipped\":true,"
    "\"lr\":0.1}\n",
    "{\"event\":\"skipped_step\",\"step\":1,\"severity\":\"info\",\"layers\":[\"a\",\"b\"],"
    "\"scale\":8}\n",
    "{'loss': 1.75, 'grad_norm': nan, 'learning_rate': 1.2e-05, 'epoch': 0.4}\n",
    "{\n\"log_history\": [\n{\"loss\": NaN, \"epoch\": 1, \"step\": 3}\n]}\n",
    "epoch,step,train_loss,grad_norm\n0,9,2.5,inf\n",
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4096, reducing to 2048\n",
    "[Rank 0] step=20, skipped=3, lr=[0.0002, 0.0002], mom=[(0.9, 0.95)]\n",
    " iteration 7/ 500 | lm loss: 1.0E+00 | loss scale: 8192.0 | number of skipped iterations: 1 "
    "|\n",
    "| INFO | train_inner | {\"epoch\": 1, \"loss\": \"5.3\", \"num_updates\": \"100\", \"gnorm\": "
    "\"1\"}\n",
    "iter 40: loss 2.5, time 101.25ms, mfu 12.50%\n",
    "Train: [1/30][50/400]\tlr 0.1\tloss 6.1 (6.2)\tgrad_norm 1.5 (inf)\tloss_scale 8192 (9011)\n",
    "Epoch(train)  [2][ 50/100]  lr: 1.0e-03  grad_norm: nan  loss: 0.5\n",
    "step=12 loss=0.5 grad_norm=1.25 scale=65536 skipped=1\r\n",
};
constexpr const char* kWords[] = {"nan",      "-inf",
                                  "1e999",    "9223372036854775807",
                                  "-1",       "0",
                                  "{",        "}",
                                  "[",        "]",
                                  "\"",       "'",
                                  "\\",       "\\u12",
                                  "\r",       "\n",
                                  "\xff\xfe", "\xef\xbb\xbf",
                                  "\x1b[",    "(",
                                  "|",        "=",
                                  ":",        "e308",
                                  "/"};

class Mutations {
 public:
  explicit Mutations(unsigned seed) : random_(seed) {}

  std::string log() {
    std::string text;
    for (std::size_t lines = 1 + below(40); lines > 0; --lines) {
      text += kLines[below(std::size(kLines))];
    }
    for (std::size_t count = below(30); count > 0 && !text.empty(); --count) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.insert(at, kWords[below(std::size(kWords))]);
        break;
      case 2:
        text.erase(at, 1 + below(40));
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(200)));
    }
  }

  std::mt19937 random_;
};

TEST(TrainingLogMutations, every_file_ends_in_a_report) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const std::string text = Mutations(seed).log();
    const Report report = report_of(text);
    const std::string told = explain_text(report, {80, false}) + show_text(report, {80, false});
    EXPECT_EQ(told.find('\x1b'), std::string::npos) << seed;
    for (const auto& run : report.runs) EXPECT_GT(run->lines, 0) << seed;
  }
}

}  // namespace
}  // namespace gradlab::training_log
