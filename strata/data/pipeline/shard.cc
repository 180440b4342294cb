// Which part of the data a host reads.
#include <algorithm>

#include "strata/base/error.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

std::pair<std::int64_t, std::int64_t> even_split(std::int64_t n, const ShardOptions& shard) {
  if (shard.shard_count <= 0 || shard.shard_index < 0 || shard.shard_index >= shard.shard_count)
    throw Error("ShardOptions", "shard {} of {}; allowed are 0 to count - 1", shard.shard_index,
                shard.shard_count);
  const std::int64_t each = n / shard.shard_count,
                     rest = shard.drop_remainder ? 0 : n % shard.shard_count;
  return {each * shard.shard_index + std::min(shard.shard_index, rest),
          each * (shard.shard_index + 1) + std::min(shard.shard_index + 1, rest)};
}

}  // namespace strata::data
