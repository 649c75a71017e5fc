// The process between gradlab and a box of isolation container: what the first process of a pid
// namespace is elsewhere. Whatever the box starts is its descendant, so that it can end and collect
// all of it, also when gradlab itself is killed. It stays root: the box cannot signal it.
#pragma once

#include <sys/types.h>

namespace gradlab::sandbox {

// All of this runs in a forked child of a process with threads: signal-safe calls only.

// Before the box is forked: becomes the parent that orphans of the box fall to, and hears SIGTERM
// when `parent` dies. False, with errno: it did not.
bool become_keeper(pid_t parent);

// Waits until the first process of the box ends or SIGTERM comes, ends the box, and exits as the
// first process did: with its status, or 128 + its signal. Holds no descriptor but `lock`.
[[noreturn]] void keep(pid_t first, uid_t uid, uid_t killer, int lock);

// Kills every process of `uid`, then exits. Its own uid is `killer`, so that they cannot kill it.
[[noreturn]] void kill_all_of(uid_t uid, uid_t killer);

}  // namespace gradlab::sandbox
