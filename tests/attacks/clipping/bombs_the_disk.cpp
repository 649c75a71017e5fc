// A program of 8 GB.
asm(".data\n.fill 1000000000, 8, 1");
