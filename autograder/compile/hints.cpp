#include "compile/hints.hpp"

#include <string_view>

namespace gradlab::compile {
namespace {

struct Hint {
  std::string_view message;  // part of the compiler's message
  std::string_view also;     // part of the message too, or of the line that it points at; or empty
  std::string_view hint;
};

// Messages of clang 19; where g++ 12 words one differently, it has its own line.
constexpr Hint kHints[] = {
    {"this lab asks you to write it", "", "This lab asks you to write that yourself."},
    {"poisoned identifier", "", "This lab asks you to write that yourself."},
    {"use poisoned", "", "This lab asks you to write that yourself."},
    {"in namespace 'std'", "'format'",
     "This standard library has no std::format. std::to_string, or << to std::cout, is there."},
    {"'format' is not a member of 'std'", "",
     "This standard library has no std::format. std::to_string, or << to std::cout, is there."},
    {"'format' file not found", "",
     "This standard library has no <format>. std::to_string, or << to std::cout, is there."},
    {"'print' file not found", "", "This standard library has no <print>. Use <iostream>."},
    {"no member named 'println'", "", "This standard library has no std::println. Use std::cout."},
    {"no member named 'print' in namespace 'std'", "",
     "This standard library has no std::print. Use std::cout."},
    {"in namespace 'at::native'", "",
     "at::native is LibTorch's own inside. The same operator is in namespace torch."},
    {"named 'GradScaler'", "",
     "LibTorch has no GradScaler in C++. The one of these labs is gradlab::amp::GradScaler."},
    {"named 'autocast' in namespace 'torch'", "",
     "LibTorch has no torch::autocast in C++. The labs' header has a guard for it."},
    {"no member named 'size' in 'at::Tensor'", "",
     "The number of elements of a tensor is numel(); size(i) is its length along i."},
    {"'class at::Tensor' has no member named 'length'", "",
     "The number of elements of a tensor is numel()."},
    {"to single argument", "size(",
     "size(i) wants the dimension. The number of elements of a tensor is numel()."},
    {"too few arguments to function call", "size(",
     "size(i) wants the dimension. The number of elements of a tensor is numel()."},
    {"no matching member function for call to 'size'", "",
     "size(i) wants the dimension. The number of elements of a tensor is numel()."},
    {"no member named 'length' in 'at::Tensor'", "",
     "The number of elements of a tensor is numel()."},
    {"no member named 'shape' in 'at::Tensor'", "", "The shape of a tensor is sizes()."},
    {"no member named 'gradient' in 'at::Tensor'", "", "The gradient of a tensor is grad()."},
    {"no member named 'begin' in 'at::Tensor'", "",
     "A tensor is no range. Use its operations on all elements at once, or data_ptr<float>()."},
    {"invalid range expression of type", "at::Tensor",
     "A tensor is no range. Use its operations on all elements at once, or data_ptr<float>()."},
    {"from 'at::Tensor' to 'double'", "",
     "A tensor of one element becomes a number by item<double>()."},
    {"from 'Tensor' to 'double'", "",
     "A tensor of one element becomes a number by item<double>()."},
    {"no viable conversion from", "to 'double'",
     "A tensor of one element becomes a number by item<double>()."},
    {"cannot convert 'at::Tensor' to 'double'", "",
     "A tensor of one element becomes a number by item<double>()."},
    {"is not contextually convertible to 'bool'", "Tensor",
     "Comparing tensors gives a tensor. A number for an if is item<bool>() or item<double>()."},
    {"invalid operands to binary expression", "std::optional",
     "The value in an optional is *it, and has_value() tells whether there is one."},
    {"reference to non-static member function must be called", "",
     "A function needs its parentheses: grad(), numel(), defined()."},
    {"invalid use of member function", "", "A function needs its parentheses: grad(), numel()."},
    {"expected ';'", "", "A ; is missing, often at the end of the line before."},
    {"expected '}'", "", "A { has no } that closes it."},
    {"extraneous closing brace", "", "There is a } too many."},
    {"expected ')'", "", "A ( has no ) that closes it."},
    {"undeclared identifier 'M_PI'", "", "Use std::numbers::pi of <numbers>."},
    {"undeclared identifier 'nullopt'", "", "Its name is std::nullopt."},
    {"undeclared identifier 'vector'", "", "Its name is std::vector."},
    {"undeclared identifier 'sqrt'", "", "Its name is std::sqrt, in <cmath>."},
    {"undeclared identifier 'isnan'", "", "Its name is std::isnan, in <cmath>."},
    {"undeclared identifier 'isinf'", "", "Its name is std::isinf, in <cmath>."},
    {"undeclared identifier 'isfinite'", "", "Its name is std::isfinite, in <cmath>."},
    {"undeclared identifier 'Tensor'", "", "Its name is torch::Tensor."},
    {"unknown type name 'Tensor'", "", "Its name is torch::Tensor."},
    {"use of undeclared identifier 'None'", "",
     "C++ has no None: undefined tensors, std::nullopt."},
    {"use of undeclared identifier 'True'", "", "In C++ it is true."},
    {"use of undeclared identifier 'False'", "", "In C++ it is false."},
    {"undeclared identifier 'def'", "", "That is Python. A C++ function begins with its type."},
    {"no matching member function for call to 'push_back'", "",
     "Either the list is const, then work on a copy, or it holds another type."},
    {"drops 'const' qualifier", "",
     "It is const, so it may not be changed; the tensor that it refers to still may."},
    {"marked const", "",
     "It is const. Tensor functions that end in _ may still change its values."},
    {"discards qualifiers", "", "It is const, so only its const functions may be called."},
    {"out-of-line definition", "does not match",
     "The parameters differ from the lab's header. Copy the declaration from there."},
    {"conflicting types for", "",
     "The declaration differs from the lab's header. Copy it from there."},
    {"functions that differ only in their return type", "",
     "The return type differs from the lab's header. Copy the declaration from there."},
    {"redefinition of", "",
     "It is defined twice. Is it also in the lab's header, or pasted twice?"},
    {"duplicate symbol: gradlab_fill_table", "",
     "That name is the grader's. Give your function another one."},
    {"multiple definition of `gradlab_fill_table'", "",
     "That name is the grader's. Give your function another one."},
    {"function definition is not allowed here", "",
     "A } is missing above: this function begins inside another."},
    {"#include nested too deeply", "", "The file includes itself. Remove that #include."},
    {"#include nested depth", "", "The file includes itself. Remove that #include."},
    {"template instantiation exceeded maximum depth", "", "A template calls itself without end."},
    {"file not found", "",
     "Only this lab's header, the standard library and LibTorch are there when it is compiled."},
    {"No such file or directory", "#include",
     "Only this lab's header, the standard library and LibTorch are there when it is compiled."},
    {"control reaches end of non-void", "", "A path through this function has no return."},
    {"non-void function does not return a value", "",
     "A path through this function has no return."},
};

}  // namespace

std::string hint_for(const std::string& message, const std::vector<std::string>& excerpt) {
  const std::string_view line = excerpt.empty() ? std::string_view() : excerpt.front();
  for (const Hint& hint : kHints) {
    if (message.find(hint.message) == std::string::npos) continue;
    if (hint.also.empty() || message.find(hint.also) != std::string::npos ||
        line.find(hint.also) != std::string_view::npos) {
      return std::string(hint.hint);
    }
  }
  return {};
}

}  // namespace gradlab::compile
