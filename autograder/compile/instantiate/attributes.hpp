// The attributes of TorchScript's nodes, which every header with an archive has.
#pragma once

#include <torch/csrc/jit/ir/attributes.h>

namespace gradlab::detail {

template <typename Attribute>
void clone_directly(const Attribute& attribute) {
  static_cast<void>(attribute.Attribute::clone());
}

inline void instantiate(const torch::jit::ComplexAttr& one_complex,
                        const torch::jit::ComplexValsAttr& complex,
                        const torch::jit::FloatAttr& one_float,
                        const torch::jit::FloatsAttr& floats, const torch::jit::IntAttr& one_int,
                        const torch::jit::IntsAttr& ints, const torch::jit::StringAttr& string,
                        const torch::jit::StringsAttr& strings,
                        const torch::jit::TensorAttr& tensor,
                        const torch::jit::TensorsAttr& tensors, const torch::jit::TypeAttr& type,
                        const torch::jit::TypesAttr& types, const torch::jit::IValueAttr& value) {
  clone_directly(one_complex);
  clone_directly(complex);
  clone_directly(one_float);
  clone_directly(floats);
  clone_directly(one_int);
  clone_directly(ints);
  clone_directly(string);
  clone_directly(strings);
  clone_directly(tensor);
  clone_directly(tensors);
  clone_directly(type);
  clone_directly(types);
  clone_directly(value);
}

}  // namespace gradlab::detail
