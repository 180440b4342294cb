// copy_rows: row i of the result is row i of the operand. Parameters: bytes of a row. The plainest
// native kernel, for tests.
#include <cstdint>
#include <cstring>

extern "C" void strata_copy_rows(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_copy_rows(void* const* buffers, std::int64_t begin, std::int64_t end) {
  std::int64_t bytes = *static_cast<const std::int64_t*>(buffers[2]);
  std::memcpy(static_cast<char*>(buffers[1]) + begin * bytes,
              static_cast<const char*>(buffers[0]) + begin * bytes,
              static_cast<std::size_t>((end - begin) * bytes));
}
