// The runner's life: say ready, close the doors, open the hand-in, answer batches.
#pragma once

namespace gradlab {

// Runs until the judge closes the channel. Returns the exit status for main.
// `isolated`: the process lives in a process namespace of its own, so that everything else in it
// was started by the hand-in and may be killed after every batch.
int serve(int channel, bool isolated);

}  // namespace gradlab
