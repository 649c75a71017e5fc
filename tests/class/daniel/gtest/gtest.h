// tiny stand-in so I could run my own tests at home
#pragma once
#include <cstdio>
#define TEST(suite, name) void suite##_##name()
#define EXPECT_TRUE(x) std::printf("%s\n", (x) ? "ok" : "FAILED " #x)
