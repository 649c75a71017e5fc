// The judge as a server: one order a line on stdin, events on stdout, a forked child for each.
#pragma once

namespace gradlab {

// Serves until stdin ends. Returns the exit status for main.
int serve_orders();

}  // namespace gradlab
