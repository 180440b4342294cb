// The header beside an object file of `strata compile`: for C99 and C++20, without any other header
// of ours.
#pragma once

#include <string>
#include <vector>

#include "strata/api/program.h"

namespace strata::embed {

struct HeaderFacts {
  std::string name;                            // of the program, in C
  std::string source;                          // the file that it was compiled from
  std::string object;                          // the file that it was compiled to
  std::string cpu;                             // for which processor
  std::string signature;                       // as Program says it
  std::vector<Program::Port> inputs, outputs;  // of static types
};

/// Its text. Throws strata::Error for what C has no type for (a token).
std::string c_header(const HeaderFacts& facts);

}  // namespace strata::embed
