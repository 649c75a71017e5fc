// Runs a loop over block numbers on LibTorch's own threads.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>

#include <cstdint>

namespace gradlab::amp {

// body(first, last) over [0, count), in at most as many pieces as LibTorch has threads, each at least
// `grain` blocks. It goes through a TensorIterator, whose loop is at::parallel_for compiled inside
// LibTorch: at::parallel_for in a header only threads where its user is built with LibTorch's OpenMP,
// which clang does not have.
template <typename Body>
void parallel_blocks(int64_t count, int64_t grain, const Body& body) {
  if (count <= grain || at::get_num_threads() == 1 || at::in_parallel_region()) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  // A byte for each block: its address is the block's number.
  at::Tensor places = at::empty({count}, at::kByte);
  const char* const base = static_cast<const char*>(places.const_data_ptr());
  at::TensorIterator iterator = at::TensorIterator::borrowing_nullary_op(places);
  iterator.for_each(
      [&](char** data, const int64_t* /*strides*/, int64_t size) {
        body(data[0] - base, data[0] - base + size);
      },
      grain);
}

}  // namespace gradlab::amp
