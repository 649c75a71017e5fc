// One read and one write over the memory of all gradients together, on the CPU: what the fused
// calls are made of. Work is cut into blocks of the concatenated elements, not into tensors, so
// that 300 small tensors cost what one large one does, and sums don't depend on the number of
// threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gradlab::amp {

class DensePass {
 public:
  // None where the pass has nothing to offer: gradients on another device, complex ones, two that
  // share memory, none that is dense float32, float64 or bfloat16.
  // REQUIRES: `gradients` outlive the pass; each passed check_gradient.
  // Allocates one list of segments.
  static std::optional<DensePass> over(at::TensorList gradients);

  struct Total {
    double norm = 0;     // of all elements, summed in double
    bool finite = true;  // whether every element is
  };
  Total measure() const;

  // Multiplies every element in place; raises version counters. Nothing happens where factor is 1.
  void multiply(double factor) const;

  // As a 0-dim tensor of the dtype that PyTorch's norm of these gradients has.
  at::Tensor as_norm(double norm) const;

 private:
  enum class Element : uint8_t { kFloat, kDouble, kBFloat16 };
  struct Segment {
    const at::Tensor* gradient;
    void* data;
    int64_t begin;  // of its elements in the concatenation
    int64_t count;
    Element element;
  };

  DensePass() = default;
  bool overlaps() const;
  template <typename Visit>
  void visit_block(int64_t block, const Visit& visit) const;

  at::TensorList gradients_;
  std::vector<Segment> segments_;
  std::vector<at::Tensor> others_;  // strided with gaps, or float16: ATen's ops, one by one
  int64_t count_ = 0;
};

// min(1, max_norm / (norm + 1e-6)), NaN where that is NaN.
double clip_coefficient(double norm, double max_norm);

}  // namespace gradlab::amp
