// What the operating system says of files, as a Status.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "strata/base/result.h"

namespace strata {

/// "PATH: cannot WHAT: reason" of an error number: not_found, denied, no_space, else io.
inline Status io_status(int error, const std::string& path, const char* what) {
  const Code code = error == ENOENT || error == ENOTDIR                    ? Code::not_found
                    : error == EACCES || error == EPERM || error == EROFS  ? Code::denied
                    : error == ENOSPC || error == EDQUOT || error == EFBIG ? Code::no_space
                                                                           : Code::io;
  return Status(code, "{}: cannot {}: {}", path, what, std::strerror(error));
}

}  // namespace strata
