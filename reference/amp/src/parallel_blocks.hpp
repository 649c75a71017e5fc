// Runs a loop over block numbers on LibTorch's own threads.
#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace gradlab::amp {

// body(first, last) over [0, count), in at most as many pieces as LibTorch has threads, each at
// least `grain` blocks.
void parallel_blocks(int64_t count, int64_t grain,
                     c10::function_ref<void(int64_t first, int64_t last)> body);

}  // namespace gradlab::amp
