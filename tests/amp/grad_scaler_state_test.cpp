// A scaler's state in archives and JSON: round trips, and all or nothing where it is cut short,
// foreign or hostile.
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <sstream>

#include "gradlab/amp/grad_scaler.hpp"
#include "gradlab/amp/state.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using golden::error_kind;
using gradlab::amp::GradScaler;
using gradlab::amp::GradScalerOptions;
using gradlab::amp::load_json;
using gradlab::amp::to_json;

// Used twice, so that scale, tracker and first use show.
GradScaler used() {
  GradScalerOptions options;
  options.init_scale = 1e4;
  options.growth_factor = 1.1;
  options.backoff_factor = 0.3;
  options.growth_interval = 7;
  GradScaler scaler(options);
  const auto parameter = amp_test::with_gradient({1});
  torch::optim::SGD optimizer({parameter}, torch::optim::SGDOptions(1.0));
  scaler.scale(torch::ones({}));
  for (const double gradient : {amp_test::kInf, 1.0}) {
    parameter.grad().fill_(gradient);
    scaler.step(optimizer);
    scaler.update();
  }
  return scaler;
}

constexpr const char* kGood =
    R"({"scale": 32.0, "growth_factor": 4.0, "backoff_factor": 0.125, "growth_interval": 3,
        "_growth_tracker": 2})";

// ---- JSON

TEST(StateJson, round_trip_keeps_every_bit) {
  const GradScaler scaler = used();
  EXPECT_EQ(to_json(scaler), R"({"scale": 3000.0, "growth_factor": 1.1, "backoff_factor": 0.3, )"
                             R"("growth_interval": 7, "_growth_tracker": 1})");
  GradScaler back;
  load_json(back, to_json(scaler));
  EXPECT_EQ(to_json(back), to_json(scaler));
}

TEST(StateJson, is_valid_json_where_the_scale_is_not_finite) {
  GradScaler scaler = used();
  scaler.update(amp_test::kInf);
  EXPECT_EQ(golden::Json::parse(to_json(scaler)).at("scale"), "inf");
  GradScaler back;
  load_json(back, to_json(scaler));
  EXPECT_EQ(back.get_scale(), amp_test::kInf);
}

TEST(StateJson, reads_what_pythons_json_dump_writes_and_passes_unknown_keys_over) {
  GradScaler scaler;
  load_json(scaler, R"({"note": "a \" and a {", "more": [1, {"scale": -1}, [], null, true],
      "scale": 3.2e1, "growth_factor": 4, "backoff_factor": 125e-3, "growth_interval": 3,
      "_growth_tracker": 2, "nothing": {}})");
  EXPECT_EQ(scaler.get_scale(), 32);
  EXPECT_EQ(scaler.growth_tracker(), 2);
}

TEST(StateJson, disabled_scalers_write_an_empty_object_and_take_anything) {
  GradScalerOptions options;
  options.enabled = false;
  GradScaler disabled(options);
  EXPECT_EQ(to_json(disabled), "{}");
  load_json(disabled, "not JSON");
  load_json(disabled, kGood);
  EXPECT_EQ(disabled.get_scale(), 1);
}

struct BadState {
  std::string text;
  const char* kind;
  const char* words;
};

void PrintTo(const BadState& bad, std::ostream* out) { *out << bad.text.substr(0, 60); }

std::string with(const std::string& key, const std::string& value) {
  golden::Json state = golden::Json::parse(kGood);
  state[key] = golden::Json::parse(value);
  return state.dump();
}

std::string without(const std::string& key) {
  golden::Json state = golden::Json::parse(kGood);
  state.erase(key);
  return state.dump();
}

class BadStateJson : public testing::TestWithParam<BadState> {};

TEST_P(BadStateJson, throws_and_changes_nothing) {
  for (const bool lazy : {false, true}) {
    GradScaler scaler = lazy ? GradScaler() : used();
    const std::string before = to_json(scaler);
    try {
      load_json(scaler, GetParam().text);
      FAIL() << "took it";
    } catch (const gradlab::amp::Error& error) {
      EXPECT_STREQ(gradlab::amp::name(error.kind()), GetParam().kind) << error.what();
      EXPECT_NE(std::string(error.what()).find(GetParam().words), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(to_json(scaler), before);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadStateJson,
    testing::Values(BadState{"", "bad_state", "no JSON object"},
                    BadState{"[]", "bad_state", "no JSON object"},
                    BadState{"{}", "empty_state", "disabled"},
                    BadState{"null", "bad_state", "no JSON object"},
                    BadState{std::string(kGood) + "x", "bad_state", "after the object"},
                    BadState{R"({"scale" 3})", "bad_state", "no value"},
                    BadState{R"({scale: 3})", "bad_state", "no quotes"},
                    BadState{R"({"scale": 1, "scale": 2})", "bad_state", "twice"},
                    BadState{R"({"scale": NaN})", "bad_state", "cannot be read"},
                    BadState{R"({"scale": Infinity})", "bad_state", "cannot be read"},
                    BadState{R"({"scale": 1e999})", "bad_state", "number"},
                    BadState{R"({"scale": -})", "bad_state", "number"},
                    BadState{"{\"a\": " + std::string(100000, '['), "bad_state", "too deep"},
                    BadState{"{\"a\": \"" + std::string(100000, 'a'), "bad_state", "does not end"},
                    BadState{without("scale"), "missing_key", "\"scale\""},
                    BadState{without("backoff_factor"), "missing_key", "\"backoff_factor\""},
                    BadState{without("_growth_tracker"), "missing_key", "\"_growth_tracker\""},
                    BadState{with("scale", "-1"), "bad_state", "\"scale\" was -1"},
                    BadState{with("scale", "\"nan\""), "bad_state", "number"},
                    BadState{with("scale", "true"), "bad_state", "was true"},
                    BadState{with("scale", "[32]"), "bad_state", "was a list"},
                    BadState{with("growth_factor", "1"), "bad_state", "growth_factor"},
                    BadState{with("backoff_factor", "\"0.5\""), "bad_state", "number"},
                    BadState{with("backoff_factor", "1.5"), "bad_state", "backoff_factor"},
                    BadState{with("growth_interval", "2.5"), "bad_state", "whole number"},
                    BadState{with("growth_interval", "-3"), "bad_state", "growth_interval"},
                    BadState{with("_growth_tracker", "1e300"), "bad_state", "whole number"}));

TEST(StateJson, every_truncation_is_refused) {
  const std::string whole = kGood;
  for (size_t length = 0; length < whole.size(); ++length) {
    GradScaler scaler = used();
    const std::string before = to_json(scaler);
    EXPECT_NE(error_kind([&] { load_json(scaler, whole.substr(0, length)); }), "") << length;
    EXPECT_EQ(to_json(scaler), before);
  }
}

// ---- archives

TEST(StateArchive, lies_beside_a_model_in_one_archive) {
  GradScaler scaler = used(), back;
  std::stringstream file;
  {
    torch::serialize::OutputArchive archive;
    archive.write("scale", torch::ones({2}));  // a model's tensor of the same name
    archive << scaler;
    archive.save_to(file);
  }
  torch::serialize::InputArchive archive;
  archive.load_from(file);
  archive >> back;
  EXPECT_EQ(to_json(back), to_json(scaler));
}

TEST(StateArchive, refuses_foreign_and_empty_ones_and_changes_nothing) {
  GradScaler scaler = used();
  const std::string before = to_json(scaler);
  std::stringstream foreign;
  torch::save(torch::ones({2}), foreign);
  EXPECT_EQ(error_kind([&] { torch::load(scaler, foreign); }), "missing_key");

  GradScalerOptions options;
  options.enabled = false;
  std::stringstream empty;
  torch::save(GradScaler(options), empty);
  EXPECT_EQ(error_kind([&] { torch::load(scaler, empty); }), "empty_state");
  EXPECT_EQ(to_json(scaler), before);
}

TEST(StateArchive, refuses_one_that_is_cut_short_and_changes_nothing) {
  GradScaler scaler = used();
  const std::string before = to_json(scaler);
  std::stringstream file;
  torch::save(used(), file);
  const std::string whole = file.str();
  for (size_t length = 0; length < whole.size(); length += whole.size() / 7) {
    std::stringstream cut(whole.substr(0, length));
    EXPECT_EQ(error_kind([&] { torch::load(scaler, cut); }), "aten");
    EXPECT_EQ(to_json(scaler), before);
  }
}

TEST(StateArchive, refuses_values_that_no_scaler_has) {
  const auto kind_of = [](const char* key, const c10::IValue& value) {
    std::stringstream file;
    {
      torch::serialize::OutputArchive archive, own(archive.compilation_unit());
      own.write("version", c10::IValue(int64_t{1}));
      own.write("scale", c10::IValue(32.0));
      own.write("growth_factor", c10::IValue(2.0));
      if (std::string_view(key) != "backoff_factor") own.write("backoff_factor", c10::IValue(0.5));
      if (!value.isNone()) own.write(key, value);
      own.write("growth_interval", c10::IValue(int64_t{3}));
      own.write("_growth_tracker", c10::IValue(int64_t{2}));
      archive.write("gradlab_amp_grad_scaler", own);
      archive.save_to(file);
    }
    GradScaler scaler = used();
    return error_kind([&] { torch::load(scaler, file); });
  };
  EXPECT_EQ(kind_of("backoff_factor", c10::IValue(0.25)), "");
  EXPECT_EQ(kind_of("backoff_factor", c10::IValue(1.5)), "bad_state");
  EXPECT_EQ(kind_of("backoff_factor", c10::IValue("half")), "bad_state");
  EXPECT_EQ(kind_of("backoff_factor", c10::IValue()), "missing_key");
}

}  // namespace
