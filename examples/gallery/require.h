// What a program of the gallery claims of its own result.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with exit code 1 where the claim does not hold.
inline void require(bool claim, const char* text) {
  if (claim) return;
  std::fprintf(stderr, "does not hold: %s\n", text);
  std::exit(1);
}
