// Stands in the sandbox where LibTorch declares at::native, its operators' insides. torch/types.h
// includes them, nothing that is public needs them, and 330 classes with virtual functions cost each
// compile a tenth of its time (clang 19, LibTorch 2.11). The same operators are in namespace at.
#pragma once
