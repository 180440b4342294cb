#include "strata/data/megatron_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "strata/base/error.h"

namespace strata::data {

NumpyRandomState::NumpyRandomState(std::uint32_t seed) {
  // MT19937's init_genrand.
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    state_[i] = seed;
    seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
  }
}

std::uint32_t NumpyRandomState::next() {
  constexpr std::size_t kSize = 624, kMiddle = 397;
  if (at_ == kSize) {
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  std::uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::uint64_t NumpyRandomState::interval(std::uint64_t most) {
  if (most == 0) return 0;
  std::uint64_t mask = most;
  for (int shift : {1, 2, 4, 8, 16, 32}) mask |= mask >> shift;
  while (true) {
    std::uint64_t value = next();
    if (most > std::numeric_limits<std::uint32_t>::max()) value = value << 32 | next();
    if ((value &= mask) <= most) return value;
  }
}

template <class T>
void NumpyRandomState::shuffle_any(std::span<T> values) {
  for (std::size_t i = values.size(); i-- > 1;)
    std::swap(values[i], values[static_cast<std::size_t>(interval(i))]);
}

void NumpyRandomState::shuffle(std::span<std::int32_t> values) { shuffle_any(values); }
void NumpyRandomState::shuffle(std::span<std::int64_t> values) { shuffle_any(values); }

namespace {

/// Where samples of L + 1 tokens begin, each on the last token of the one before it.
std::vector<std::array<std::int64_t, 2>> sample_starts(std::span<const std::int32_t> lengths,
                                                       std::span<const std::int32_t> documents,
                                                       std::int64_t length, std::int64_t count) {
  std::vector<std::array<std::int64_t, 2>> out = {{0, 0}};
  out.reserve(static_cast<std::size_t>(count + 1));
  std::int64_t document = 0, offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t need = length + 1;
    while (need > 0) {
      const std::int64_t there =
          lengths[static_cast<std::size_t>(documents[static_cast<std::size_t>(document)])] - offset;
      if (need <= there) {
        offset += need - 1;
        break;
      }
      need -= there;
      STRATA_CHECK(document + 1 < std::ssize(documents), "samples are within the epochs");
      ++document, offset = 0;
    }
    out.push_back({document, offset});
  }
  return out;
}

}  // namespace

MegatronIndices megatron_indices(std::span<const std::int32_t> lengths, const MegatronOptions& o) {
  if (o.length < 1 || o.samples < 0)
    throw Error("Megatron", "samples of {} tokens, {} of them: allowed are numbers from 1 on",
                o.length, o.samples);
  const std::int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  constexpr std::int64_t kMostEpochs = 1 << 24;
  if (tokens < 1) throw Error("Megatron", "the documents have no tokens");
  const std::int64_t wanted = o.samples * o.length + 1;
  const std::int64_t epochs =
      o.samples == 0 ? 1 : std::max<std::int64_t>((wanted + tokens - 1) / tokens, 1);
  if (epochs > kMostEpochs ||
      epochs * std::ssize(lengths) > std::numeric_limits<std::int32_t>::max())
    throw Error("Megatron", "{} samples of {} tokens are {} epochs of {} documents: too many",
                o.samples, o.length, epochs, lengths.size());
  const std::int64_t count = (epochs * tokens - 1) / o.length;
  if (count < 1)
    throw Error("Megatron", "{} tokens are less than one sample of {}", tokens, o.length + 1);
  // The last epoch is shuffled by itself where little of it is read.
  constexpr double kMuch = 0.80;
  bool separate = false;
  std::int64_t before = 0;
  if (epochs > 1) {
    before = ((epochs - 1) * tokens - 1) / o.length;
    const std::int64_t per_epoch = (tokens - 1) / o.length;
    separate =
        o.samples - before < static_cast<std::int64_t>(kMuch * static_cast<double>(per_epoch));
  }
  NumpyRandomState random(o.seed);
  MegatronIndices out;
  const std::int64_t each = std::ssize(lengths);
  for (std::int64_t i = 0; i < epochs * each; ++i)
    out.documents.push_back(static_cast<std::int32_t>(i % each));
  const std::span<std::int32_t> documents(out.documents);
  const auto first = static_cast<std::size_t>((separate ? epochs - 1 : epochs) * each);
  random.shuffle(documents.first(first));
  if (separate) random.shuffle(documents.subspan(first));
  out.samples = sample_starts(lengths, out.documents, o.length, count);
  out.shuffle.resize(static_cast<std::size_t>(count));
  std::iota(out.shuffle.begin(), out.shuffle.end(), 0);
  const std::span<std::int64_t> shuffle(out.shuffle);
  const auto near = static_cast<std::size_t>(separate ? before : count);
  random.shuffle(shuffle.first(near));
  random.shuffle(shuffle.subspan(near));
  return out;
}

MegatronBlend megatron_blend(std::span<const double> weights, std::int64_t size) {
  double sum = 0;
  for (double w : weights) {
    if (!(w >= 0) || !std::isfinite(w))
      throw Error("Megatron", "a weight is {}: allowed are finite numbers from 0 on", w);
    sum += w;
  }
  if (!(sum > 0) || weights.size() > 32767 || size < 0)
    throw Error("Megatron", "no blend of {} elements of {} datasets of weights {} in all", size,
                weights.size(), sum);
  MegatronBlend out;
  std::vector<std::int64_t> taken(weights.size(), 0);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(std::max<std::int64_t>(i, 1));
    std::size_t best = 0;
    double most = weights[0] * at - static_cast<double>(taken[0]);
    for (std::size_t s = 1; s < weights.size(); ++s) {
      const double behind = weights[s] * at - static_cast<double>(taken[s]);
      if (behind > most) most = behind, best = s;
    }
    out.source.push_back(static_cast<std::int16_t>(best));
    out.sample.push_back(taken[best]++);
  }
  return out;
}

MegatronBlend megatron_exhaustive_blend(std::span<const std::int64_t> sizes) {
  std::int64_t total = 0;
  for (std::int64_t n : sizes) {
    if (n < 0) throw Error("Megatron", "a dataset of {} samples", n);
    total += n;
  }
  MegatronBlend out;
  std::vector<std::int64_t> taken(sizes.size(), 0);
  for (std::int64_t i = 0; i < total; ++i) {
    const auto at = static_cast<double>(std::max<std::int64_t>(i, 1));
    std::size_t best = sizes.size();
    double most = 0;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (taken[s] == sizes[s]) continue;
      const double behind = static_cast<double>(sizes[s]) / static_cast<double>(total) * at -
                            static_cast<double>(taken[s]);
      if (best == sizes.size() || behind > most) most = behind, best = s;
    }
    out.source.push_back(static_cast<std::int16_t>(best));
    out.sample.push_back(taken[best]++);
  }
  return out;
}

std::int64_t megatron_blend_samples(std::int64_t size, double weight) {
  constexpr double kMargin = 1 + 0.005;
  return static_cast<std::int64_t>(
      std::ceil(std::ceil(static_cast<double>(size) * weight) * kMargin));
}

Result<MegatronSamples> MegatronSamples::open(const std::string& path,
                                              const MegatronOptions& options) {
  auto file = MegatronFile::open(path);
  if (!file) return file.status();
  if (is_float(file->dtype()))
    return Status(Code::invalid, "{}: its elements are {}, no tokens", path, name(file->dtype()));
  const std::vector<std::int32_t> all = file->lengths();
  const std::int64_t first = options.first_sequence,
                     count = options.sequences < 0 ? std::ssize(all) - first : options.sequences;
  if (first < 0 || count < 0 || first + count > std::ssize(all))
    return Status(Code::invalid, "{}: sequences {} to {} of {}", path, first, first + count,
                  all.size());
  const std::span lengths =
      std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  try {
    MegatronIndices indices = megatron_indices(lengths, options);
    for (std::int32_t& d : indices.documents) d += static_cast<std::int32_t>(first);
    return MegatronSamples(std::move(*file), options, std::move(indices));
  } catch (const Error& e) {
    return Status(Code::invalid, "{}: {}", path, e.message());
  }
}

std::vector<MegatronSamples::Piece> MegatronSamples::pieces(std::int64_t j) const {
  const auto at = static_cast<std::size_t>(indices_.shuffle[static_cast<std::size_t>(j)]);
  const auto [first, begin] = indices_.samples[at];
  const auto [last, end] = indices_.samples[at + 1];
  std::vector<Piece> out;
  for (std::int64_t d = first; d <= last; ++d) {
    const std::int64_t document = indices_.documents[static_cast<std::size_t>(d)];
    const std::int64_t from = d == first ? begin : 0;
    const std::int64_t to = d == last ? end + 1 : file_.length(document);
    if (to > from) out.push_back({document, from, to - from});
  }
  return out;
}

void MegatronSamples::window(std::int64_t j, std::span<std::int64_t> tokens) const {
  std::size_t at = 0;
  for (const Piece& piece : pieces(j)) {
    const auto count = static_cast<std::size_t>(piece.count);
    file_.copy(piece.document, piece.begin, tokens.subspan(at, count));
    at += count;
  }
  STRATA_CHECK(at == tokens.size(), "a sample has length + 1 tokens");
}

}  // namespace strata::data
