// Do-nothing answers for any contract: return a constant or an argument, throw, touch nothing, or
// zero every gradient. doctor proves that none of them earns a point on any task.
#pragma once

#include <gradlab/contract.hpp>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "judge/implementations.hpp"

namespace gradlab {

enum class Idle { kZero, kOne, kNaN, kInfinity, kArgument, kThrows, kZeroes, kZeroesAndOne };

namespace detail {

template <typename T>
void zero_gradients(const T& value) {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, torch::Tensor>) {
    if (value.defined() && value.grad().defined()) value.grad().zero_();
  } else if constexpr (std::is_same_v<Plain, std::vector<torch::Tensor>>) {
    for (const auto& tensor : value) zero_gradients(tensor);
  }
}

// The last argument of the result's own kind (a number for a number), or a default value.
template <typename Result, typename... Args>
Result last_argument(const Args&... args) {
  Result chosen{};
  [[maybe_unused]] const auto consider = [&](const auto& arg) {
    using Arg = std::remove_cvref_t<decltype(arg)>;
    if constexpr (std::is_arithmetic_v<Result> && std::is_arithmetic_v<Arg>) {
      chosen = static_cast<Result>(arg);
    } else if constexpr (std::is_same_v<Result, Arg>) {
      chosen = arg;
    }
  };
  (consider(args), ...);
  return chosen;
}

template <Idle kind, typename Result>
Result constant() {
  if constexpr (std::is_arithmetic_v<Result>) {
    if constexpr (kind == Idle::kOne || kind == Idle::kZeroesAndOne) return static_cast<Result>(1);
    if constexpr (std::is_floating_point_v<Result>) {
      if constexpr (kind == Idle::kNaN) return std::numeric_limits<Result>::quiet_NaN();
      if constexpr (kind == Idle::kInfinity) return std::numeric_limits<Result>::infinity();
    }
  }
  return Result{};
}

template <Idle kind, typename Signature>
struct IdleCall;

template <Idle kind, typename Result, typename... Args>
struct IdleCall<kind, Result(Args...)> {
  static Result call(Args... args) {
    if constexpr (kind == Idle::kThrows) throw std::runtime_error("idle");
    if constexpr (kind == Idle::kZeroes || kind == Idle::kZeroesAndOne) (zero_gradients(args), ...);
    if constexpr (std::is_void_v<Result>) {
      return;
    } else if constexpr (kind == Idle::kArgument) {
      return last_argument<Result>(args...);
    } else {
      return constant<kind, Result>();
    }
  }
};

template <Idle kind, typename Signature>
void fill_idle(Function<Signature>& entry) {
  entry = &IdleCall<kind, Signature>::call;
}

template <Idle kind, typename Impl>
void add_idle(const char* name) {
  auto impl = std::make_shared<Impl>();
  std::apply([](auto&... entry) { (fill_idle<kind>(entry), ...); }, entries(*impl));
  implementations().idle[name] = impl;
}

}  // namespace detail

// Registers every do-nothing answer of the contract that Impl stands for.
template <typename Impl>
bool add_idle_answers() {
  detail::add_idle<Idle::kZero, Impl>("returns_zero");
  detail::add_idle<Idle::kOne, Impl>("returns_one_or_true");
  detail::add_idle<Idle::kNaN, Impl>("returns_nan");
  detail::add_idle<Idle::kInfinity, Impl>("returns_infinity");
  detail::add_idle<Idle::kArgument, Impl>("returns_an_argument");
  detail::add_idle<Idle::kThrows, Impl>("throws");
  detail::add_idle<Idle::kZeroes, Impl>("zeroes_every_gradient");
  detail::add_idle<Idle::kZeroesAndOne, Impl>("zeroes_and_returns_true");
  return true;
}

}  // namespace gradlab
