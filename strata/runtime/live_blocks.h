// What fills this process's memory, for whoever has to say that there is none left.
#pragma once

#include <string>

namespace strata::runtime {

/// "; the largest arrays in memory: 2 x 1073741824 bytes (1 GiB), 1 x ...": the five largest sizes
/// of blocks of allocate() that are in use, of a mebibyte or more; "" where there is none.
std::string largest_blocks();

}  // namespace strata::runtime
