#include "strata/model/convert/update.h"

#include <cstddef>

namespace strata::model::conversion {

std::int64_t Update::output_of(std::int64_t i) const {
  if (paired_heads == 0) return i;
  const std::int64_t head = parts[0].out / paired_heads, at = i % head;
  return i - at + at % 2 * (head / 2) + at / 2;
}

void Update::add_to(std::int64_t i, float* row) const {
  for (const Part& p : parts) {
    if (rows_are_inputs) {
      for (std::int64_t o = 0; o < p.out; ++o) {
        float sum = 0;
        for (std::int64_t r = 0; r < p.rank; ++r)
          sum += p.a[static_cast<std::size_t>(i * p.rank + r)] *
                 p.b[static_cast<std::size_t>(r * p.out + o)];
        row[p.begin + o] += sum * static_cast<float>(p.scale);
      }
      continue;
    }
    const std::int64_t o = output_of(i) - p.begin;
    if (o < 0 || o >= p.out) continue;
    for (std::int64_t k = 0; k < p.in; ++k) {
      float sum = 0;
      for (std::int64_t r = 0; r < p.rank; ++r)
        sum += p.a[static_cast<std::size_t>(k * p.rank + r)] *
               p.b[static_cast<std::size_t>(r * p.out + o)];
      row[k] += sum * static_cast<float>(p.scale);
    }
  }
}

}  // namespace strata::model::conversion
