// Memory that was asked for and is not there, with the numbers that a person needs to see why.
#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace strata {

/// "17592186044416 bytes (16 TiB)"
std::string bytes_text(std::size_t bytes);

/// Bytes that the system would still give this process: what is free of the machine's memory and of
/// the process's own limit (ulimit -v).
std::size_t available_memory();

/// `what()`: "out of memory: 17592186044416 bytes (16 TiB) requested, ... available".
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t requested);
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// What to tell of one: the numbers where they are known, else "out of memory".
std::string message_of(const std::bad_alloc& e);

}  // namespace strata
