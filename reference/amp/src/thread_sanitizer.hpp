// Tells ThreadSanitizer of a parallel region's start and end, which it cannot see: LibTorch's
// OpenMP is not built with it. What two parts of a region do to each other stays visible. Empty in
// other builds.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GRADLAB_AMP_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define GRADLAB_AMP_TSAN 1
#endif

#ifdef GRADLAB_AMP_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace gradlab::amp::tsan {

#ifdef GRADLAB_AMP_TSAN
inline char started = 0;
inline char ended = 0;
inline void fork() { __tsan_release(&started); }
inline void part_begins() { __tsan_acquire(&started); }
inline void part_ends() { __tsan_release(&ended); }
inline void join() { __tsan_acquire(&ended); }
#else
inline void fork() {}
inline void part_begins() {}
inline void part_ends() {}
inline void join() {}
#endif

}  // namespace gradlab::amp::tsan
