// Last in every precompiled header that has LibTorch. clang leaves the virtual functions of these
// templates to each file that uses the header, 0.3 s a file (clang 19, LibTorch 2.11): the direct
// calls here, and in the other files of this folder, make it write them into the header once.
// Nothing calls them.
#pragma once

#include <ATen/core/jit_type.h>

namespace gradlab::detail {

template <typename Base>
void call_directly(const Base& type, const c10::Type& other) {
  static_cast<void>(type.Base::equals(other));
  static_cast<void>(type.Base::containedTypes());
  static_cast<void>(type.Base::hasFreeVariables());
}

inline void instantiate(const c10::ListType& list, const c10::FutureType& future,
                        const c10::AwaitType& await, const c10::RRefType& rref,
                        const c10::ScalarTypeType& scalar, const c10::LayoutType& layout,
                        const c10::MemoryFormatType& format) {
  using c10::TypeKind;
  call_directly<c10::SingleElementType<TypeKind::ListType, c10::ListType>>(list, list);
  call_directly<c10::SingleElementType<TypeKind::FutureType, c10::FutureType>>(future, list);
  call_directly<c10::SingleElementType<TypeKind::AwaitType, c10::AwaitType>>(await, list);
  call_directly<c10::SingleElementType<TypeKind::RRefType, c10::RRefType>>(rref, list);
  static_cast<void>(scalar.EnumerationType<TypeKind::ScalarTypeType>::equals(list));
  static_cast<void>(layout.EnumerationType<TypeKind::LayoutType>::equals(list));
  static_cast<void>(format.EnumerationType<TypeKind::MemoryFormatType>::equals(list));
}

}  // namespace gradlab::detail
