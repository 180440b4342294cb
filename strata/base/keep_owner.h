// Files that take the place of others.
#pragma once

#include <string>

namespace strata {

/// Gives the file `to`, which is about to take the place of `of`, its owner and permissions, as far
/// as that is ours to say; nothing where there is no `of`.
void keep_owner(const std::string& of, const std::string& to);

}  // namespace strata
