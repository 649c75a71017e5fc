// The loader names a function that is missing. Its name is 300 characters long, and 2^28 types when
// it is written out.
#include <utility>

#include "clipping.hpp"

template <int n>
struct Twice {
  using type = std::pair<typename Twice<n - 1>::type, typename Twice<n - 1>::type>;
};
template <>
struct Twice<0> {
  using type = int;
};
template <int n>
using T = typename Twice<n>::type*;

void missing(T<1>, T<2>, T<3>, T<4>, T<5>, T<6>, T<7>, T<8>, T<9>, T<10>, T<11>, T<12>, T<13>,
             T<14>, T<15>, T<16>, T<17>, T<18>, T<19>, T<20>, T<21>, T<22>, T<23>, T<24>, T<25>,
             T<26>, T<27>, T<28>);

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  missing(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return 0;
}
