#include "parallel_blocks.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>

#include "thread_sanitizer.hpp"

namespace gradlab::amp {

// Through a TensorIterator, whose loop is at::parallel_for compiled inside LibTorch:
// at::parallel_for in a header only threads where its user is built with LibTorch's OpenMP, which
// clang does not have.
void parallel_blocks(int64_t count, int64_t grain,
                     c10::function_ref<void(int64_t first, int64_t last)> body) {
  if (count <= grain || at::get_num_threads() == 1 || at::in_parallel_region()) {
    if (count > 0) body(0, count);
    return;
  }
  // A byte for each block: its address is the block's number.
  const at::Tensor places = at::empty({count}, at::kByte);
  const char* const base = static_cast<const char*>(places.const_data_ptr());
  at::TensorIterator iterator = at::TensorIterator::borrowing_nullary_op(places);
  const auto loop = [&](char** data, const int64_t* /*strides*/, int64_t size, int64_t /*rows*/) {
    tsan::part_begins();
    const int64_t first = data[0] - base;
    body(first, first + size);
    tsan::part_ends();
  };
  tsan::fork();
  iterator.for_each(at::TensorIteratorBase::loop2d_t(loop), grain);
  tsan::join();
}

}  // namespace gradlab::amp
