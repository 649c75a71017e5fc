// How a lab's contract becomes a type: Function is one entry of a lab's Impl, and GRADLAB_CONTRACT
// names the functions, so that student, reference and bug all fill the same table and any drift
// between them is a compile error. Lab authors use this; students need not read it.
#pragma once

#include <gradlab/todo.hpp>
#include <tuple>
#include <type_traits>

namespace gradlab {

template <typename Signature>
class Function;

// A function pointer that knows its task. Calling an empty one throws NotStarted: the student
// deleted the function.
template <typename Result, typename... Args>
class Function<Result(Args...)> {
 public:
  using Pointer = Result (*)(Args...);

  constexpr explicit Function(const char* task) : task_(task) {}
  constexpr Function& operator=(Pointer written) {
    pointer_ = written;
    return *this;
  }
  Result operator()(Args... args) const {
    if (pointer_ == nullptr) throw NotStarted{task_};
    return pointer_(static_cast<Args>(args)...);
  }
  constexpr const char* task() const { return task_; }
  constexpr Pointer pointer() const { return pointer_; }

 private:
  const char* task_;
  Pointer pointer_ = nullptr;
};

}  // namespace gradlab

// GRADLAB_CONTRACT(a, b, …), inside the lab's namespace and after its Impl, lists the functions.
// It gives entries(impl), a tuple of references to them. Where GRADLAB_STUDENT_TABLE is defined
// (the small object linked to every hand-in) it also declares them weak, so that a deleted one is
// null instead of a link error, and defines the one symbol that a hand-in exports.
#define GRADLAB_DETAIL_PARENS ()
#define GRADLAB_DETAIL_EXPAND(...) \
  GRADLAB_DETAIL_EXPAND1(GRADLAB_DETAIL_EXPAND1(GRADLAB_DETAIL_EXPAND1(__VA_ARGS__)))
#define GRADLAB_DETAIL_EXPAND1(...) \
  GRADLAB_DETAIL_EXPAND2(GRADLAB_DETAIL_EXPAND2(GRADLAB_DETAIL_EXPAND2(__VA_ARGS__)))
#define GRADLAB_DETAIL_EXPAND2(...) __VA_ARGS__
#define GRADLAB_DETAIL_EACH(macro, ...) \
  __VA_OPT__(GRADLAB_DETAIL_EXPAND(GRADLAB_DETAIL_EACH1(macro, __VA_ARGS__)))
#define GRADLAB_DETAIL_EACH1(macro, first, ...) \
  macro(first) __VA_OPT__(GRADLAB_DETAIL_EACH2 GRADLAB_DETAIL_PARENS(macro, __VA_ARGS__))
#define GRADLAB_DETAIL_EACH2() GRADLAB_DETAIL_EACH1

#define GRADLAB_DETAIL_WEAK(name) extern "C++" __attribute__((weak)) decltype(name) name;
#define GRADLAB_DETAIL_FILL(name) \
  if (&name != nullptr) impl->name = &name;
#define GRADLAB_DETAIL_TIE(name) std::tie(impl.name),

#define GRADLAB_DETAIL_ENTRIES(...)                                                             \
  template <typename AnyImpl>                                                                   \
  constexpr auto entries(AnyImpl& impl) {                                                       \
    return std::tuple_cat(GRADLAB_DETAIL_EACH(GRADLAB_DETAIL_TIE, __VA_ARGS__) std::tuple<>{}); \
  }

#ifdef GRADLAB_STUDENT_TABLE
#define GRADLAB_CONTRACT(...)                                                             \
  GRADLAB_DETAIL_EACH(GRADLAB_DETAIL_WEAK, __VA_ARGS__)                                   \
  GRADLAB_DETAIL_ENTRIES(__VA_ARGS__)                                                     \
  extern "C" __attribute__((visibility("default"))) void gradlab_fill_table(Impl* impl) { \
    GRADLAB_DETAIL_EACH(GRADLAB_DETAIL_FILL, __VA_ARGS__)                                 \
  }
#else
#define GRADLAB_CONTRACT(...) GRADLAB_DETAIL_ENTRIES(__VA_ARGS__)
#endif
