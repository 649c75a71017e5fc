// The calls of golden/autocast/ops.json in C++, by their names there.
#include "support/ops.hpp"

#include <ATen/ATen.h>

namespace golden {
namespace {

using In = const std::vector<at::Tensor>&;

// a, b and c are a call's inputs.
#define GRADLAB_OP(name, aten, expression)                                        \
  Op {                                                                            \
    name, aten, [](In in) -> at::Tensor {                                         \
      [[maybe_unused]] at::Tensor a = in[0];                                      \
      [[maybe_unused]] const at::Tensor b = in.size() > 1 ? in[1] : at::Tensor(); \
      [[maybe_unused]] const at::Tensor c = in.size() > 2 ? in[2] : at::Tensor(); \
      return expression;                                                          \
    }                                                                             \
  }

at::Tensor mm_into(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out = at::empty({4, 4});
  return at::mm_out(out, a, b);
}

}  // namespace

// clang-format off
const std::vector<Op>& ops() {
  static const std::vector<Op> all = {
      GRADLAB_OP("linear", "linear", (at::linear(a, b, c))),
      GRADLAB_OP("linear_without_bias", "linear", (at::linear(a, b))),
      GRADLAB_OP("mm", "mm", (at::mm(a, b))),
      GRADLAB_OP("bmm", "bmm", (at::bmm(a, b))),
      GRADLAB_OP("matmul", "matmul", (at::matmul(a, b))),
      GRADLAB_OP("matmul_vectors", "matmul", (at::matmul(a, b))),
      GRADLAB_OP("addmm", "addmm", (at::addmm(a, b, c))),
      GRADLAB_OP("baddbmm", "baddbmm", (at::baddbmm(a, b, c))),
      GRADLAB_OP("addbmm", "addbmm", (at::addbmm(a, b, c))),
      GRADLAB_OP("einsum", "einsum", (at::einsum("ij,jk->ik", {a, b}))),
      GRADLAB_OP("conv1d", "conv1d", (at::conv1d(a, b, c))),
      GRADLAB_OP("conv2d", "conv2d", (at::conv2d(a, b, c))),
      GRADLAB_OP("conv3d", "conv3d", (at::conv3d(a, b))),
      GRADLAB_OP("conv_transpose2d", "conv_transpose2d", (at::conv_transpose2d(a, b))),
      GRADLAB_OP("prelu", "prelu", (at::prelu(a, b))),
      GRADLAB_OP("scaled_dot_product_attention", "scaled_dot_product_attention", (at::scaled_dot_product_attention(a, b, c))),
      GRADLAB_OP("mv", "mv", (at::mv(a, b))),
      GRADLAB_OP("dot", "dot", (at::dot(a, b))),
      GRADLAB_OP("outer", "outer", (at::outer(a, b))),
      GRADLAB_OP("mm_method", "matmul", (a.matmul(b))),
      GRADLAB_OP("mse_loss", "mse_loss", (at::mse_loss(a, b))),
      GRADLAB_OP("l1_loss", "l1_loss", (at::l1_loss(a, b))),
      GRADLAB_OP("smooth_l1_loss", "smooth_l1_loss", (at::smooth_l1_loss(a, b))),
      GRADLAB_OP("huber_loss", "huber_loss", (at::huber_loss(a, b))),
      GRADLAB_OP("cross_entropy", "nll_loss", (at::cross_entropy_loss(a, b))),
      GRADLAB_OP("cross_entropy_probabilities", "log_softmax", (at::cross_entropy_loss(a, b))),
      GRADLAB_OP("nll_loss", "nll_loss", (at::nll_loss(a, b))),
      GRADLAB_OP("binary_cross_entropy", "binary_cross_entropy", (at::binary_cross_entropy(a, b))),
      GRADLAB_OP("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", (at::binary_cross_entropy_with_logits(a, b))),
      GRADLAB_OP("kl_div", "kl_div", (at::kl_div(a, b, at::Reduction::Sum).div(a.size(0)))),
      GRADLAB_OP("poisson_nll_loss", "poisson_nll_loss", (at::poisson_nll_loss(a, b, true, false, 1e-8, at::Reduction::Mean))),
      GRADLAB_OP("hinge_embedding_loss", "hinge_embedding_loss", (at::hinge_embedding_loss(a, b))),
      GRADLAB_OP("triplet_margin_loss", "triplet_margin_loss", (at::triplet_margin_loss(a, b, c))),
      GRADLAB_OP("multi_margin_loss", "multi_margin_loss", (at::multi_margin_loss(a, b))),
      GRADLAB_OP("prod", "prod", (at::prod(a))),
      GRADLAB_OP("sum", "sum", (at::sum(a))),
      GRADLAB_OP("sum_dim", "sum", (at::sum(a, 1))),
      GRADLAB_OP("mean", "mean", (at::mean(a))),
      GRADLAB_OP("norm", "linalg_vector_norm", (at::linalg_vector_norm(a))),
      GRADLAB_OP("linalg_vector_norm", "linalg_vector_norm", (at::linalg_vector_norm(a))),
      GRADLAB_OP("cumsum", "cumsum", (at::cumsum(a, 0))),
      GRADLAB_OP("softmax", "softmax", (at::softmax(a, -1))),
      GRADLAB_OP("log_softmax", "log_softmax", (at::log_softmax(a, -1))),
      GRADLAB_OP("logsumexp", "logsumexp", (at::logsumexp(a, 0))),
      GRADLAB_OP("layer_norm", "layer_norm", (at::layer_norm(a, {4}, b, c))),
      GRADLAB_OP("group_norm", "group_norm", (at::group_norm(a, 2, b, c))),
      GRADLAB_OP("batch_norm", "batch_norm", (at::batch_norm(a, {}, {}, b, c, true, 0.1, 1e-5, false))),
      GRADLAB_OP("var", "var", (at::var(a))),
      GRADLAB_OP("trace", "trace", (at::trace(a))),
      GRADLAB_OP("quantile", "quantile", (at::quantile(a, 0.5))),
      GRADLAB_OP("cdist", "cdist", (at::cdist(a, b))),
      GRADLAB_OP("exp", "exp", (at::exp(a))),
      GRADLAB_OP("log", "log", (at::log(a))),
      GRADLAB_OP("pow", "pow", (at::pow(a, 2.0))),
      GRADLAB_OP("rsqrt", "rsqrt", (at::rsqrt(a))),
      GRADLAB_OP("reciprocal", "reciprocal", (at::reciprocal(a))),
      GRADLAB_OP("sqrt", "sqrt", (at::sqrt(a))),
      GRADLAB_OP("relu", "relu", (at::relu(a))),
      GRADLAB_OP("gelu", "gelu", (at::gelu(a))),
      GRADLAB_OP("silu", "silu", (at::silu(a))),
      GRADLAB_OP("sigmoid", "sigmoid", (at::sigmoid(a))),
      GRADLAB_OP("tanh", "tanh", (at::tanh(a))),
      GRADLAB_OP("softplus", "softplus", (at::softplus(a))),
      GRADLAB_OP("add", "add", (a + b)),
      GRADLAB_OP("mul", "mul", (a * b)),
      GRADLAB_OP("div", "div", (a / b)),
      GRADLAB_OP("mul_scalar_tensor", "mul", (a * b)),
      GRADLAB_OP("where", "where", (at::where(a > b, a, b))),
      GRADLAB_OP("clamp", "clamp", (at::clamp(a, 0.0, 0.25))),
      GRADLAB_OP("addcmul", "addcmul", (at::addcmul(a, b, c))),
      GRADLAB_OP("addcdiv", "addcdiv", (at::addcdiv(a, b, c))),
      GRADLAB_OP("atan2", "atan2", (at::atan2(a, b))),
      GRADLAB_OP("cat", "cat", (at::cat({a, b}))),
      GRADLAB_OP("stack", "stack", (at::stack({a, b}))),
      GRADLAB_OP("index_copy", "index_copy", (at::index_copy(a, 0, c, b))),
      GRADLAB_OP("scatter_add", "scatter_add", (at::scatter_add(a, 0, c, b))),
      GRADLAB_OP("embedding", "embedding", (at::embedding(a, b))),
      GRADLAB_OP("max_pool2d", "max_pool2d", (at::max_pool2d(a, 2))),
      GRADLAB_OP("avg_pool2d", "avg_pool2d", (at::avg_pool2d(a, 2))),
      GRADLAB_OP("avg_pool3d", "avg_pool3d", (at::avg_pool3d(a, 2))),
      GRADLAB_OP("adaptive_avg_pool2d", "adaptive_avg_pool2d", (at::adaptive_avg_pool2d(a, {1, 1}))),
      GRADLAB_OP("interpolate_nearest", "upsample_nearest2d", (at::upsample_nearest2d(a, {4, 4}))),
      GRADLAB_OP("reflection_pad1d", "reflection_pad1d", (at::reflection_pad1d(a, {1, 1}))),
      GRADLAB_OP("linalg_inv", "linalg_inv", (at::linalg_inv(a))),
      GRADLAB_OP("linalg_cholesky", "linalg_cholesky", (at::linalg_cholesky(a))),
      GRADLAB_OP("linalg_det", "linalg_det", (at::linalg_det(a))),
      GRADLAB_OP("fft", "fft_fft", (at::fft_fft(a))),
      GRADLAB_OP("mm_out", "(out=)", (mm_into(a, b))),
      GRADLAB_OP("addmm_in_place", "(in place)", (a.addmm_(b, c))),
      GRADLAB_OP("add_in_place", "(in place)", (a.add_(b))),
      GRADLAB_OP("sum_explicit_dtype", "(dtype given)", (at::sum(a, at::kFloat))),
      GRADLAB_OP("mm_int64", "mm", (at::mm(b, c))),
  };
  return all;
}
// clang-format on

#undef GRADLAB_OP

}  // namespace golden
