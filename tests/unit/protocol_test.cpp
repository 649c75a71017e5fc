// Cases, observations and tensors over the wire and through a record; hostile descriptions refused.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>

#include "protocol/case.hpp"
#include "protocol/observation.hpp"
#include "protocol/tensors.hpp"

namespace gradlab {
namespace {

using protocol::MalformedTensor;
using protocol::TensorReader;
using protocol::TensorWriter;

Case example() {
  Case in;
  in.parameter(torch::ones({2, 3}), torch::arange(6, torch::kFloat32).view({3, 2}).t(), true);
  in.parameter(torch::ones({}), torch::Tensor(), false);
  in.number("max_norm", std::numeric_limits<double>::infinity()).integer("step", int64_t{1} << 40);
  return in;
}

void expect_same(const Case& a, const Case& b) {
  ASSERT_EQ(a.gradients().size(), b.gradients().size());
  for (size_t i = 0; i < a.gradients().size(); ++i) {
    ASSERT_EQ(a.gradients()[i].defined(), b.gradients()[i].defined());
    EXPECT_EQ(a.parameter_values()[i].requires_grad(), b.parameter_values()[i].requires_grad());
    if (!a.gradients()[i].defined()) continue;
    EXPECT_TRUE(torch::equal(a.gradients()[i], b.gradients()[i]));
    EXPECT_EQ(a.gradients()[i].strides(), b.gradients()[i].strides());
  }
  EXPECT_EQ(a.number("max_norm"), b.number("max_norm"));
  EXPECT_EQ(a.integer("step"), b.integer("step"));
}

TEST(TensorsOnTheWire, an_empty_tensor_comes_back_wherever_its_zero_stands) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{0}, {3, 0}, {0, 3}, {2, 0, 4}}) {
    protocol::TensorWriter writer;
    const auto description = writer.add(torch::empty(shape));
    const std::string body = writer.take_body();
    protocol::TensorReader reader(body);
    EXPECT_EQ(reader.read(description).sizes().vec(), shape);
  }
}

TEST(Case, keeps_layout_missing_gradients_and_infinities_over_the_wire) {
  nlohmann::json head;
  std::string body;
  example().write(head, body);
  expect_same(example(), Case::read(head, body));
}

TEST(Case, keeps_the_same_in_a_record) {
  const auto text = example().to_json().dump();
  expect_same(example(), Case::from_json(nlohmann::json::parse(text)));
}

TEST(Case, gives_fresh_parameters_so_that_no_run_spoils_another) {
  const Case in = example();
  in.parameters()[0].grad().zero_();
  EXPECT_EQ(in.parameters()[0].grad().sum().item<double>(), 15);
  EXPECT_EQ(in.gradients()[0].sum().item<double>(), 15);
}

TEST(Case, says_in_words_what_it_is) {
  Case in;
  in.parameter(torch::ones({1}), torch::tensor({0.3f})).number("max_norm", 1);
  EXPECT_EQ(in.describe(), "one gradient [0.3], max_norm 1");
  Case other;
  other.add("losses", torch::tensor({{1.5, 2.0}, {3.0, 4.0}}, torch::kFloat64).t())
      .add("steps", torch::tensor(3.0f));
  EXPECT_EQ(other.describe(), "one loss float64 [[1.5, 3], [2, 4]] (not contiguous), one step 3");
}

TEST(Observation, comes_back_with_its_aliases_shared) {
  const auto gradient = torch::tensor({1.5f, -0.0f, NAN});
  Observation seen;
  seen.add("gradients", {gradient, torch::Tensor()}).add("aliases", {gradient}).add("norm", NAN);
  const auto frame = seen.to_frame();
  EXPECT_EQ(frame.body.size(), gradient.nbytes()) << "an alias must not be sent twice";
  const auto back = Observation::from_frame(frame);
  EXPECT_FALSE(back.tensors("gradients")[1].defined());
  EXPECT_EQ(back.tensors("aliases")[0].data_ptr(), back.tensors("gradients")[0].data_ptr());
  EXPECT_TRUE(std::signbit(back.tensors("gradients")[0][1].item<float>()));
  EXPECT_TRUE(std::isnan(back.number("norm")));
}

TEST(Observation, cuts_an_error_of_libtorch_to_its_first_sentence) {
  EXPECT_EQ(first_sentence("Sizes differ. Please check.\nException raised from add at x.cpp:1"),
            "Sizes differ.");
}

TEST(TensorReader, refuses_what_does_not_fit_its_bytes) {
  const std::string body(16, '\0');
  const auto refused = [&](const char* description) {
    TensorReader reader(body);
    EXPECT_THROW(reader.read(nlohmann::json::parse(description)), MalformedTensor) << description;
  };
  refused(R"({"dtype":"float32","shape":[5],"at":0})");
  refused(R"({"dtype":"float32","shape":[4],"at":4})");
  refused(R"({"dtype":"float32","shape":[4],"at":18446744073709551615})");
  refused(R"({"dtype":"float32","shape":[4294967296,4294967296],"at":0})");
  refused(R"({"dtype":"float32","shape":[-1],"at":0})");
  refused(R"({"dtype":"complex64","shape":[1],"at":0})");
  refused(R"({"dtype":"float32","shape":[1],"at":0,"strides":[9223372036854775807]})");
  refused(R"({"dtype":"float32","shape":[2,2],"at":0,"strides":[0,1]})");
  refused(R"({"dtype":"float32","shape":[2,2],"at":0,"strides":[2]})");
  refused(R"({"dtype":"float32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"at":0})");
  refused(R"({"same_as":0})");
  refused(R"({"shape":[1],"at":0})");
  refused(R"(7)");
}

// As the gradient of a sum is: a right answer may hand one back.
TEST(Tensors, an_expanded_tensor_arrives_by_its_values) {
  const auto expanded = torch::tensor({1.0F, 2.0F}).unsqueeze(1).expand({2, 3});
  const auto negative = torch::imag(torch::complex(torch::ones({2}), torch::ones({2})).conj());
  for (const auto& tensor : {expanded, negative}) {
    const auto back = Observation::from_frame(Observation().add("x", {tensor}).to_frame());
    EXPECT_TRUE(back.tensors("x").front().equal(tensor));
    EXPECT_TRUE(protocol::tensor_from_json(protocol::to_json(tensor)).equal(tensor));
    EXPECT_TRUE(protocol::copy_with_layout(tensor).equal(tensor));
  }
}

TEST(TensorReader, refuses_tensors_that_share_their_bytes) {
  // A thousand of them in one small frame would be a thousand times its memory.
  const std::string body(64, '\0');
  TensorReader reader(body);
  const nlohmann::json whole = {{"dtype", "float32"}, {"shape", {16}}, {"at", 0u}};
  EXPECT_EQ(reader.read(whole).numel(), 16);
  EXPECT_THROW(reader.read(whole), protocol::MalformedTensor);
}

TEST(TensorWriter, refuses_what_it_cannot_write) {
  protocol::TensorWriter writer;
  EXPECT_THROW(writer.add(torch::ones({2}, torch::kShort)), protocol::MalformedTensor);
  EXPECT_THROW(writer.add(torch::ones({2}).to_sparse()), protocol::MalformedTensor);
}

TEST(TensorReader, an_empty_tensor_needs_no_bytes) {
  const std::string body;
  TensorReader reader(body);
  const auto description = nlohmann::json::parse(R"({"dtype":"float32","shape":[0,99999],"at":0})");
  EXPECT_EQ(reader.read(description).numel(), 0);
}

TEST(Numbers, that_json_cannot_write_are_strings) {
  EXPECT_EQ(protocol::number_to_json(INFINITY), "inf");
  EXPECT_EQ(protocol::number_from_json("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(protocol::number_from_json("nan")));
  EXPECT_THROW(protocol::number_from_json("infinite"), MalformedTensor);
}

}  // namespace
}  // namespace gradlab
