// The table of functions that is linked to every hand-in of a lab. The contract's own macro writes
// it: weak references, so that a function that the student deleted is null, and one exported
// symbol.
#define GRADLAB_STUDENT_TABLE
#include GRADLAB_LAB_HEADER
