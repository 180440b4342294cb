#include "strata/model/fingerprint.h"

#include <fmt/format.h>

#include "strata/base/checksum.h"

namespace strata::model {

std::string fingerprint(const tree::Tree& weights) {
  const tree::Tree sorted = weights.sorted();
  std::int64_t elements = 0;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Literal value = sorted.value(i).literal();
    sum = crc32c(fmt::format("{} {}\n", sorted.entry(i).name, value.type().to_string()), sum);
    sum = crc32c({reinterpret_cast<const char*>(value.data()), value.bytes()}, sum);
    elements += value.count();
  }
  return fmt::format("{}:{}", elements, hex32(sum));
}

}  // namespace strata::model
