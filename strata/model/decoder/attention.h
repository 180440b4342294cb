// The attention branch of a decoder's layer: projections, norms of heads, rotary positions.
#pragma once

#include <functional>
#include <optional>

#include "strata/model/decoder/attend.h"
#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/norms.h"
#include "strata/model/decoder/rotary.h"

namespace strata::model::decoder {

/// Queries, keys and values ready to be compared: (B, S, H, d), (B, S, K, d), (B, S, K, d).
struct Heads {
  Array query, key, value;
};
/// What happens between them and the output, (B, S, H, d); it may put keys and values into a cache.
using Attending = std::function<Array(const Heads& heads)>;

struct Attention {
  Linear query, key;            // (D, H*d), (D, K*d)
  std::optional<Linear> value;  // (D, K*d); none: values are keys as projected
  Linear out;                   // (H*d, D)
  std::optional<Norm> query_norm, key_norm;
  std::optional<nn::Param> sinks;  // (H)
  STRATA_FIELDS(query, key, value, out, query_norm, key_norm, sinks)

  /// x (B, S, D) -> (B, S, D); queries and keys are turned by `rotary` where there is one, then
  /// divided by their root mean square where `unit` is true (an i1 scalar; none: false). Queries
  /// are multiplied by `query_scale`, which broadcasts to them, where there is one.
  Array operator()(const Array& x_BSD, const Options& options,
                   const std::optional<RotaryTable>& rotary,
                   const std::optional<Array>& query_scale, const std::optional<Array>& unit,
                   const Attending& attending) const;
};

}  // namespace strata::model::decoder
