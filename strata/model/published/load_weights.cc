#include "strata/model/published/load_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::published {

using decoder::Options;
using decoder::WeightKind;
using decoder::WeightShape;
using Sizes = std::vector<std::int64_t>;
using Convention = TensorSource::Convention;

namespace {

std::string text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// How one of our weights lies in one published tensor.
struct Slice {
  std::int64_t in = 1, out = 1;  // of ours; vectors have in 1
  Sizes shape;                   // of the published tensor
  bool as_ours = false;          // published as (in, out)
};

Slice slice_of(const WeightName& name, const WeightShape& weight, Convention convention) {
  Sizes own = weight.shape;
  if (weight.path.starts_with("layers/")) own.erase(own.begin());
  Slice s;
  if (weight.kind == WeightKind::embedding)  // rows by rows, as it is
    return {own[1], own[0], own, false};
  s.out = own.back();
  const std::int64_t whole = name.whole > 0 ? name.whole : s.out;
  if (weight.kind != WeightKind::matrix) {
    s.shape = {whole};
    return s;
  }
  s.in = own[0];
  s.as_ours = name.as_ours && convention == Convention::hugging_face;
  s.shape = s.as_ours ? Sizes{s.in, whole} : Sizes{whole, s.in};
  return s;
}

/// The row of the published tensor that is our output `o`, where GGUF has them paired: within a
/// head, row j of half b stands at 2 j + b.
std::int64_t row_of(std::int64_t o, const WeightName& name, const Slice& s, Convention convention) {
  if (name.paired_heads == 0 || convention != Convention::gguf) return name.begin + o;
  const std::int64_t head = s.out / name.paired_heads, half = head / 2;
  const std::int64_t within = o % head;
  return o - within + 2 * (within % half) + within / half;
}

/// Reads any float type as float.
class Floats {
 public:
  explicit Floats(const Literal& literal) : literal_(literal), data_(literal.data()) {}
  float operator[](std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    switch (literal_.dtype()) {
      case DType::f32: return reinterpret_cast<const float*>(data_)[at];
      case DType::bf16: return static_cast<float>(reinterpret_cast<const BFloat16*>(data_)[at]);
      case DType::f16: return static_cast<float>(reinterpret_cast<const Float16*>(data_)[at]);
      default: return static_cast<float>(literal_.number(i));
    }
  }

 private:
  const Literal& literal_;
  const std::byte* data_;
};

void put(Literal& out, std::int64_t i, float value) {
  const auto at = static_cast<std::size_t>(i);
  if (out.dtype() == DType::f32)
    reinterpret_cast<float*>(out.mutable_data())[at] = value;
  else
    reinterpret_cast<BFloat16*>(out.mutable_data())[at] = BFloat16(value);
}

/// Copies a weight, or a layer of it, from the published tensor into ours from element `to` on.
void copy_in(Literal& ours, std::int64_t to, const Literal& published, const WeightName& name,
             const Slice& s, const WeightShape& weight, Convention convention) {
  const Floats from(published);
  const bool gguf = convention == Convention::gguf;
  const auto plus = static_cast<float>(gguf ? name.gguf_plus : 0.0);
  const std::int64_t whole = s.shape.back();
  if (weight.kind == WeightKind::embedding) {
    for (std::int64_t i = 0; i < s.in * s.out; ++i) put(ours, to + i, from[i]);
    return;
  }
  // In blocks, so that neither side is read across memory.
  constexpr std::int64_t kBlock = 32;
  for (std::int64_t i0 = 0; i0 < s.in; i0 += kBlock)
    for (std::int64_t o0 = 0; o0 < s.out; o0 += kBlock)
      for (std::int64_t i = i0; i < std::min(i0 + kBlock, s.in); ++i)
        for (std::int64_t o = o0; o < std::min(o0 + kBlock, s.out); ++o) {
          const std::int64_t row = row_of(o, name, s, convention);
          const std::int64_t at = s.as_ours ? i * whole + row : row * s.in + i;
          put(ours, to + i * s.out + o, from[at] - plus);
        }
}

/// Copies the packed rows of a weight, or of a layer of it.
void copy_packed(Literal& ours, std::int64_t layer, const Literal& published,
                 const WeightName& name, const Slice& s, const WeightShape& weight,
                 Convention convention) {
  const std::int64_t row_bytes = published.shape()[published.shape().rank() - 1];
  std::byte* to = ours.mutable_data() + layer * s.out * row_bytes;
  for (std::int64_t o = 0; o < s.out; ++o) {
    const std::int64_t row =
        weight.kind == WeightKind::embedding ? o : row_of(o, name, s, convention);
    std::copy_n(published.data() + row * row_bytes, row_bytes, to + o * row_bytes);
  }
}

/// Names in the source: prefixes and old endings found out.
class Resolver {
 public:
  Resolver(const Names& names, const TensorSource& source)
      : names_(names), source_(source), prefix_(prefix_of(names, source)) {}

  /// The published name of a weight; what it should be called where it is not there.
  std::string of(const WeightName& name, std::int64_t layer) const {
    if (source_.convention() == Convention::gguf) return numbered(name.gguf, layer);
    const std::string now = prefix_ + numbered(name.hugging_face, layer);
    if (source_.shapes().contains(now)) return now;
    for (const auto& [old_ending, ending] : names_.old_endings) {
      if (!now.ends_with(ending)) continue;
      const std::string old = now.substr(0, now.size() - ending.size()) + old_ending;
      if (source_.shapes().contains(old)) return old;
    }
    return now;
  }
  bool ignored(const std::string& name) const {
    const bool gguf = source_.convention() == Convention::gguf;
    const std::vector<std::string>& patterns = gguf ? names_.gguf_ignored : names_.ignored;
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& p) { return matches(p, name); });
  }

 private:
  static std::string prefix_of(const Names& names, const TensorSource& source) {
    for (const std::string& prefix : names.prefixes)
      if (!names.weights.empty() &&
          source.shapes().contains(prefix + numbered(names.weights[0].hugging_face, 0)))
        return prefix;
    return names.prefixes.empty() ? "" : names.prefixes[0];
  }
  const Names& names_;
  const TensorSource& source_;
  std::string prefix_;
};

const WeightName& name_of(const Names& names, const std::string& path) {
  for (const WeightName& n : names.weights)
    if (n.path == path) return n;
  STRATA_UNREACHABLE("the family has no name for the weight {}", path);
}

/// The first few of a list, and how many more there are.
std::string some_of(const std::vector<std::string>& all) {
  constexpr std::size_t kMost = 8;
  const std::size_t shown = std::min(all.size(), kMost);
  std::string out =
      fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<long>(shown), ", "));
  if (all.size() > shown) out += fmt::format(" and {} more", all.size() - shown);
  return out;
}

std::int64_t layers_of(const WeightShape& w) {
  return w.path.starts_with("layers/") ? w.shape[0] : 1;
}

Status compare(const std::vector<WeightShape>& weights, const Names& names,
               const Resolver& resolver, const TensorSource& source) {
  std::vector<std::string> missing, misshapen, surplus;
  std::set<std::string> used;
  for (const WeightShape& w : weights) {
    const WeightName& name = name_of(names, w.path);
    const Slice s = slice_of(name, w, source.convention());
    for (std::int64_t layer = 0; layer < layers_of(w); ++layer) {
      const std::string published = resolver.of(name, layer);
      if (!used.insert(published).second) continue;
      const auto it = source.shapes().find(published);
      if (it == source.shapes().end())
        missing.push_back(published + " " + text(s.shape));
      else if (it->second != s.shape)
        misshapen.push_back(
            fmt::format("{} is {} and should be {}", published, text(it->second), text(s.shape)));
    }
  }
  for (const auto& [name, shape] : source.shapes())
    if (!used.contains(name) && !resolver.ignored(name))
      surplus.push_back(name + " " + text(shape));
  std::vector<std::string> all;
  if (!missing.empty()) all.push_back(fmt::format("missing: {}", some_of(missing)));
  if (!misshapen.empty()) all.push_back(fmt::format("of another shape: {}", some_of(misshapen)));
  if (!surplus.empty()) all.push_back(fmt::format("of no weight: {}", some_of(surplus)));
  if (all.empty()) return {};
  return Status(Code::invalid, "{}: the tensors are not those of the configuration; {}",
                source.name(), fmt::join(all, "; "));
}

}  // namespace

Result<tree::Tree> load_weights(const Options& options, const Names& names,
                                const TensorSource& source, DType dtype) {
  if (dtype != DType::f32 && dtype != DType::bf16)
    throw Error("load_weights", "weights are f32 or bf16, got {}", strata::name(dtype));
  const std::vector<WeightShape> weights = decoder::weight_shapes(options);
  const Resolver resolver(names, source);
  if (Status same = compare(weights, names, resolver, source); !same) return same;
  std::map<std::string, Array, std::less<>> arrays;
  for (const WeightShape& w : weights) {
    const WeightName& name = name_of(names, w.path);
    const Slice s = slice_of(name, w, source.convention());
    if (const auto packed = options.packed.find(w.path); packed != options.packed.end()) {
      std::vector<std::int64_t> shape = {s.out, packed->second.row_bytes(s.in)};
      if (w.path.starts_with("layers/")) shape.insert(shape.begin(), layers_of(w));
      Literal ours(Type(DType::ui8, Shape::of(shape)));
      for (std::int64_t layer = 0; layer < layers_of(w); ++layer) {
        Result<Literal> tensor = source.read_packed(resolver.of(name, layer));
        if (!tensor) return tensor.status();
        copy_packed(ours, layer, *tensor, name, s, w, source.convention());
      }
      arrays.emplace(w.path, Array(std::move(ours)));
      continue;
    }
    Literal ours(Type(dtype, Shape::of(w.shape)));
    for (std::int64_t layer = 0; layer < layers_of(w); ++layer) {
      const std::string published = resolver.of(name, layer);
      Result<Literal> tensor = source.read(published);
      if (!tensor) return tensor.status();
      if (!is_float(tensor->dtype()))
        return Status(Code::unsupported,
                      "{}: tensor '{}' is {}; weights are floating-point numbers", source.name(),
                      published, strata::name(tensor->dtype()));
      copy_in(ours, layer * s.in * s.out, *tensor, name, s, w, source.convention());
    }
    arrays.emplace(w.path, Array(std::move(ours)));
  }
  const decoder::Weights typed = decoder::make_weights(
      options,
      [&](std::string_view path, const Sizes&, WeightKind) { return arrays.find(path)->second; });
  return tree::of(typed).with_metadata(
      [](const tree::Entry& e) { return decoder::logical_axes(e.name); });
}

std::map<std::string, BlockFormat, std::less<>> packed_weights(const Options& options,
                                                               const Names& names,
                                                               const TensorSource& source) {
  std::map<std::string, BlockFormat, std::less<>> out;
  const Resolver resolver(names, source);
  for (const WeightShape& w : decoder::weight_shapes(options)) {
    const WeightName& name = name_of(names, w.path);
    const bool plain = name.gguf_plus == 0 && !slice_of(name, w, source.convention()).as_ours;
    if ((w.kind != WeightKind::matrix && w.kind != WeightKind::embedding) || !plain) continue;
    const std::optional<BlockFormat> format = source.packed(resolver.of(name, 0));
    bool alike = format.has_value();
    for (std::int64_t layer = 1; layer < layers_of(w); ++layer)
      alike = alike && source.packed(resolver.of(name, layer)) == format;
    if (alike) out.emplace(w.path, *format);
  }
  return out;
}

std::map<std::string, Literal> published_tensors(const Options& options, const Names& names,
                                                 const tree::Tree& params, Convention convention) {
  std::map<std::string, Literal> out;
  const bool gguf = convention == Convention::gguf;
  const std::string prefix = gguf || names.prefixes.empty() ? "" : names.prefixes[0];
  for (const WeightShape& w : decoder::weight_shapes(options)) {
    const WeightName& name = name_of(names, w.path);
    const Slice s = slice_of(name, w, convention);
    const Literal ours = params[w.path].literal();
    if (ours.shape().sizes() != w.shape)
      throw Error("published_tensors", "{} is {} and should be {}", w.path,
                  text(ours.shape().sizes()), text(w.shape));
    if (ours.dtype() != DType::f32 && ours.dtype() != DType::bf16)
      throw Error("published_tensors", "{} is {}; weights are f32 or bf16", w.path,
                  strata::name(ours.dtype()));
    const Floats from(ours);
    const auto plus = static_cast<float>(gguf ? name.gguf_plus : 0.0);
    for (std::int64_t layer = 0; layer < layers_of(w); ++layer) {
      const std::string published = prefix + numbered(gguf ? name.gguf : name.hugging_face, layer);
      const auto [it, made] =
          out.try_emplace(published, Literal(Type(ours.dtype(), Shape::of(s.shape))));
      Literal& to = it->second;
      const std::int64_t begin = layer * s.in * s.out, whole = s.shape.back();
      if (w.kind == WeightKind::embedding) {
        for (std::int64_t i = 0; i < s.in * s.out; ++i) put(to, i, from[i]);
        continue;
      }
      for (std::int64_t i = 0; i < s.in; ++i)
        for (std::int64_t o = 0; o < s.out; ++o) {
          const std::int64_t row = row_of(o, name, s, convention);
          put(to, s.as_ours ? i * whole + row : row * s.in + i, from[begin + i * s.out + o] + plus);
        }
    }
  }
  return out;
}

}  // namespace strata::model::published
