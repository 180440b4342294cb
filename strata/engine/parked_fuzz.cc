// libFuzzer target: any bytes are read as a file of parked pages; what is read is written as the
// same bytes again, but for the header's spelling.
//
//   tools/fuzz.sh strata/engine/parked_fuzz.cc strata/engine/testdata/parked -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/base/checksum.h"
#include "strata/engine/parked.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::engine;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // Half of the inputs get a right checksum, so that what is behind it is read.
  if (size >= 5 && data[size - 1] % 2 == 0) {
    bytes.resize(size - 4);
    const std::uint32_t sum = strata::crc32c(bytes);
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(sum >> (8 * i));
  }
  const auto read = decode(bytes, "fuzz");
  if (!read) return 0;
  const std::string again = encode(read->parked, read->name);
  const auto twice = decode(again, "again");
  if (!twice || twice->name != read->name || twice->parked.tokens != read->parked.tokens ||
      encode(twice->parked, twice->name) != again)
    std::abort();
  return 0;
}
