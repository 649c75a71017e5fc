// gradlab::amp::GradScaler held to Python's, call by call, on every sequence of golden/grad_scaler:
// results, errors, scale, tracker, stages, gradients, parameters and optimizer state after each
// call.
#include <torch/types.h>

#include "support/golden.hpp"
#include "support/scaler_player.hpp"

namespace {

using golden::Json;
using golden::ScalerPlayer;

class GradScalerGolden : public testing::TestWithParam<golden::Case> {};

TEST_P(GradScalerGolden, every_call_is_pythons) {
  const Json& body = GetParam().body;
  if (!body.at("construction_error").is_null()) {
    EXPECT_EQ(golden::error_kind([&] { ScalerPlayer player(body); }),
              golden::expected_error(body.at("construction_error")));
    return;
  }
  ScalerPlayer player(body);
  size_t number = 0;
  for (const Json& step : body.at("steps")) {
    SCOPED_TRACE("call " + std::to_string(number++) + ": " + step.at("op").dump());
    const std::string error =
        golden::error_kind([&] { player.play(step.at("op"), step.at("result")); });
    EXPECT_EQ(error, golden::expected_error(step.at("result").at("error")));
    if (step.at("result").contains("applied")) {
      EXPECT_EQ(player.applied(), step.at("result").at("applied").get<bool>());
    }
    if (GetParam().name == "load_missing_key" && !error.empty()) {
      // Python has taken over half of the state by now; ours is all or nothing, as before the call.
      EXPECT_EQ(player.scaler().get_scale(), 8.0);
      EXPECT_EQ(player.scaler().get_growth_factor(), 2.0);
      break;
    }
    player.expect_after(step.at("after"));
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, GradScalerGolden,
                         testing::ValuesIn(golden::cases("grad_scaler/grad_scaler.json")),
                         golden::test_name);

}  // namespace
