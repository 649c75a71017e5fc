// No allocation for each parameter in the fused calls: their number is that of the call, not the
// list.
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "gradlab/amp/amp.hpp"
#include "support/models.hpp"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

// For this whole program, LibTorch's libraries too. Sanitizers keep their own.
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#define GRADLAB_COUNTS 1
#else
#define GRADLAB_COUNTS 0
#endif

namespace {

namespace amp = gradlab::amp;

struct Loop {
  std::vector<torch::Tensor> parameters;
  std::unique_ptr<torch::optim::SGD> optimizer;
  amp::GradScaler scaler;

  explicit Loop(int count) {
    for (int i = 0; i < count; ++i) {
      parameters.push_back(amp_test::with_gradient(std::vector<double>(10, 1.0)));
    }
    optimizer = std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(0.1));
    scaler.scale(torch::ones({}));
  }
};

// The allocations of the second of two equal calls.
template <typename CallT>
int64_t counted(const CallT& call) {
  call();
  const int64_t before = allocations.load();
  call();
  return allocations.load() - before;
}

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (GRADLAB_COUNTS == 0) GTEST_SKIP() << "a sanitizer has its own operator new";
  }
};

TEST_F(Allocations, of_unscale_and_clip_do_not_grow_with_the_list) {
  Loop few(10), many(300);
  const auto of = [](Loop& loop) {
    return counted([&] {
      loop.scaler.update(2.0);
      amp::unscale_and_clip_(loop.scaler, *loop.optimizer, 1);
    });
  };
  const int64_t with_few = of(few), with_many = of(many);
  std::cout << "unscale_and_clip_: " << with_few << " allocations with 10 parameters, " << with_many
            << " with 300\n";
  EXPECT_EQ(with_few, with_many);
}

TEST_F(Allocations, of_the_fused_clip_do_not_grow_with_the_list) {
  Loop few(10), many(300);
  amp::ClipOptions fused;
  fused.fused = true;
  const auto of = [&](Loop& loop) {
    return counted([&] { amp::clip_grad_norm_(loop.parameters, 1, fused); });
  };
  EXPECT_EQ(of(few), of(many));
}

// Of the others by ATen's ops: a norm for each gradient in clip, nothing for each in unscale_ of
// ours.
TEST_F(Allocations, of_an_observer_that_is_not_there_are_none) {
  Loop loop(1);
  const auto loss = torch::ones({});
  const auto plain = counted([&] { loop.scaler.scale(loss); });
  struct Silent : amp::Observer {
    void begin(const amp::Event&) noexcept override {}
    void end(const amp::Event&) noexcept override {}
  } silent;
  const amp::ObserverScope scope(silent);
  EXPECT_EQ(counted([&] { loop.scaler.scale(loss); }), plain);
}

}  // namespace
