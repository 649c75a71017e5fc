// The experiments of the one lab that a program is built for. experiments/<slug>.cpp fills it with
// GRADLAB_EXPERIMENTS; runner and judge read it. An implementation travels as a shared void, since
// only the lab's own code knows its type.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "protocol/case.hpp"
#include "protocol/observation.hpp"

namespace gradlab {

using AnyImpl = std::shared_ptr<void>;  // holds a <slug>::Impl
using Experiment = std::function<Observation(const void* impl, const Case& in)>;

struct Lab {
  std::string slug;
  std::function<AnyImpl()> empty_impl;
  std::map<std::string, Experiment> experiments;
};

Lab& lab();

namespace detail {
template <typename Impl, Observation (*experiment)(const Impl&, const Case&)>
Observation erased(const void* impl, const Case& in) {
  return experiment(*static_cast<const Impl*>(impl), in);
}
}  // namespace detail

}  // namespace gradlab

#define GRADLAB_DETAIL_EXPERIMENT(name) \
  gradlab::lab().experiments[#name] = &gradlab::detail::erased<Impl, &name>;

// GRADLAB_EXPERIMENTS(slug, a, b, …): after `using <slug>::Impl;` and the experiments themselves,
// functions of the form Observation(const Impl&, const Case&).
#define GRADLAB_EXPERIMENTS(slug_, ...)                                                       \
  [[maybe_unused]] const bool kExperimentsRegistered = [] {                                   \
    gradlab::lab().slug = #slug_;                                                             \
    gradlab::lab().empty_impl = [] {                                                          \
      return gradlab::AnyImpl(new Impl, [](void* impl) { delete static_cast<Impl*>(impl); }); \
    };                                                                                        \
    GRADLAB_DETAIL_EACH(GRADLAB_DETAIL_EXPERIMENT, __VA_ARGS__)                               \
    return true;                                                                              \
  }();
