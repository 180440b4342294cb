// The metadata of a GGUF file beside a Hugging Face directory's files. Private to
// strata/model/convert.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "strata/checkpoint/gguf.h"
#include "strata/model/convert/pairs.h"

namespace strata::model::conversion {

using checkpoint::GgufMetadata;
using checkpoint::GgufType;

/// gguf.json: what a GGUF file says that no other file of a Hugging Face directory holds, so that
/// the way back loses nothing. Every key with its type, and the types of the tensors.
struct Sidecar {
  GgufMetadata metadata;
  /// In the file's order: names and types.
  std::vector<std::pair<std::string, std::string>> types;
  /// The type of a tensor, or null.
  const std::string* type_of(std::string_view tensor) const {
    for (const auto& [name, type] : types)
      if (name == tensor) return &type;
    return nullptr;
  }
};
inline constexpr const char* kSidecar = "gguf.json";
/// Code::unsupported for texts that are no UTF-8 and numbers that JSON does not have.
Result<std::string> encode_sidecar(const Sidecar& sidecar);
/// Code::corrupt for what is none.
Result<Sidecar> decode_sidecar(std::string_view text, const std::string& name);

/// The keys that a model amounts to: general.* and those of the architecture. Throws Error
/// for what a file of the family cannot say, by what its reader would take it for.
GgufMetadata keys_of(const Described& model);
/// Rotary scalings that tensors hold, by their names: llama3's as divisors of frequencies in
/// rope_freqs.weight, longrope's factors in rope_factors_long.weight and rope_factors_short.weight;
/// none for other scalings.
std::map<std::string, std::vector<float>> rope_tensors(const decoder::Options& options);

/// Empty where two models of these options compute the same from the same weights; else the first
/// thing that differs, as config.json calls it.
std::string difference(const decoder::Options& a, const decoder::Options& b);

/// Sets a key; the place of one that is there stays.
void set(GgufMetadata& metadata, const std::string& key, checkpoint::GgufValue value);
/// Whether two values are the same number, text or list, of whatever types.
bool same_value(const checkpoint::GgufValue& a, const checkpoint::GgufValue& b);

}  // namespace strata::model::conversion
