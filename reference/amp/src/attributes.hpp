// What is not standard C++, behind macros: one code compiled for several instruction sets.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)  // g++ and clang
#define GRADLAB_AMP_X86 1
#define GRADLAB_AMP_TARGET(features) __attribute__((target(features)))
#define GRADLAB_AMP_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#else
#define GRADLAB_AMP_X86 0
#define GRADLAB_AMP_TARGET(features)
#define GRADLAB_AMP_HAS(feature) false
#endif

// A body that each version takes into itself and compiles for its own instruction set.
#if defined(__GNUC__)
#define GRADLAB_AMP_INLINE inline __attribute__((always_inline))
#else
#define GRADLAB_AMP_INLINE inline
#endif
