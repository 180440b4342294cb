// HighwayHash, 64 bits, with the key of Riegeli's records: the checksum of ArrayRecord's chunks.
//
// Source: google/highwayhash, c/highwayhash.c; the key is riegeli/chunk_encoding/hash.cc's.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace strata::data {

/// The hash; uses AVX2 where the processor has it.
std::uint64_t riegeli_hash(std::string_view bytes);
/// The hashes of both, sooner than one after the other.
std::pair<std::uint64_t, std::uint64_t> riegeli_hashes(std::string_view a, std::string_view b);
/// The same one word at a time: what the fast one must equal.
std::uint64_t riegeli_hash_by_words(std::string_view bytes);

}  // namespace strata::data
