// Counts the copies that change a tensor's dtype: they show what autocast casts, and its cache.
#pragma once

#include <ATen/record_function.h>

#include <memory>
#include <string_view>

namespace amp_test {

// Of this thread, while it lives.
class CastCounter {
 public:
  CastCounter() {
    casts() = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function) {
          if (std::string_view(function.name()) == "aten::_to_copy") ++casts();
          return std::unique_ptr<at::ObserverContext>();
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~CastCounter() { at::removeCallback(handle_); }
  CastCounter(const CastCounter&) = delete;
  CastCounter& operator=(const CastCounter&) = delete;

  int count() const { return casts(); }

 private:
  static int& casts() {
    thread_local int count = 0;
    return count;
  }

  at::CallbackHandle handle_;
};

}  // namespace amp_test
