// The attention branch of a decoder's layer: projections, norms of heads, rotary positions.
#pragma once

#include <functional>
#include <optional>

#include "strata/model/decoder/attend.h"
#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/norms.h"
#include "strata/model/decoder/rotary.h"

namespace strata::model::decoder {

/// Keys and values, (B, T, K, d) each.
struct KeysAndValues {
  Array key, value;
  STRATA_FIELDS(key, value)
};
/// Queries, keys and values ready to be compared: (B, S, H, d), (B, S, K, d), (B, S, K, d).
struct Heads {
  Array query, key, value;
  /// Whether keys and values are an earlier layer's. Where there is a cache it has them, and they
  /// are empty here.
  bool shared = false;
};
/// What happens between them and the output, (B, S, H, d); it may put keys and values into a cache.
using Attending = std::function<Array(const Heads& heads)>;

struct Attention {
  Linear query;                 // (D, H*d)
  std::optional<Linear> key;    // (D, K*d); none: keys and values are an earlier layer's
  std::optional<Linear> value;  // (D, K*d); none: values are keys as projected
  Linear out;                   // (H*d, D)
  std::optional<Norm> query_norm, key_norm;
  std::optional<nn::Param> sinks;  // (H)
  STRATA_FIELDS(query, key, value, out, query_norm, key_norm, sinks)

  /// x (B, S, D) -> (B, S, D); queries and keys are turned by `rotary` where there is one, then
  /// divided by their root mean square where `unit` is true (an i1 scalar; none: false). Queries
  /// are multiplied by `query_scale`, which broadcasts to them, where there is one. `earlier`: what
  /// a layer without keys of its own attends to; empty arrays where a cache has them.
  Array operator()(const Array& x_BSD, const Options& options,
                   const std::optional<RotaryTable>& rotary,
                   const std::optional<Array>& query_scale, const std::optional<Array>& unit,
                   const KeysAndValues& earlier, const Attending& attending) const;
};

}  // namespace strata::model::decoder
