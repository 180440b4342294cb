// libFuzzer target: any bytes are read as a .npy file and as a .npz file; what is read is written
// and read again the same.
//
//   tools/fuzz.sh strata/type/npy_fuzz.cc strata/type/testdata/npy -max_total_time=60
#include <cstdint>
#include <cstdlib>

#include "strata/type/npy.h"

namespace {

using namespace strata;

void check_array(const Literal& array) {
  auto written = encode_npy(array);
  if (!written) std::abort();
  auto again = decode_npy(*written, "again");
  if (!again || !again->same_bits(array)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (auto array = decode_npy(bytes, "fuzz")) check_array(*array);
  if (auto arrays = decode_npz(bytes, "fuzz")) {
    auto written = encode_npz(*arrays);
    if (!written) std::abort();
    auto again = decode_npz(*written, "again");
    if (!again || again->size() != arrays->size()) std::abort();
    for (std::size_t i = 0; i < arrays->size(); ++i)
      if (!(*again)[i].second.same_bits((*arrays)[i].second)) std::abort();
  }
  return 0;
}
