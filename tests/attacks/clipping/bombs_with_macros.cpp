// 32 million tokens from ten lines.
#define A(x) x x x x x x x x
#define B(x) A(A(x))
#define C(x) B(B(x))
#define D(x) C(C(x))
int number = D(1 +) 1;
