// Stands in the sandbox where LibTorch declares at::native, the insides of its operators, whose 330
// classes cost each compile a tenth of its time (clang 19, LibTorch 2.11). torch/types.h includes
// them, and nothing public needs them: the same operators are in namespace at.
#pragma once
