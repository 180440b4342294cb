#include "strata/model/published/load_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/published/stream_weights.h"

namespace strata::model::published {

using decoder::Options;
using decoder::WeightKind;
using decoder::WeightShape;
using Sizes = std::vector<std::int64_t>;
using Convention = TensorSource::Convention;

namespace {

std::string text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool is_of_experts(const WeightShape& w) {
  return w.kind == WeightKind::experts || w.kind == WeightKind::expert_bias;
}
/// Whether the published tensor holds all experts of a layer.
bool is_stacked(const WeightName& name, Convention convention) {
  return name.experts > 0 && (name.stacked || convention == Convention::gguf);
}

/// The names of each of the tensors that hold a weight, or a piece of it: one but for sections.
std::vector<WeightName> tensors_of(const WeightName& name, Convention convention) {
  if (name.sections.empty() || convention == Convention::gguf) return {name};
  std::vector<WeightName> out;
  for (const WeightName::Section& section : name.sections) {
    const auto same = [&](const WeightName& n) { return n.hugging_face == section.hugging_face; };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    out.push_back(name);
    out.back().hugging_face = section.hugging_face;
  }
  return out;
}
bool in_sections(const WeightName& name, Convention convention) {
  return !name.sections.empty() && convention == Convention::hugging_face;
}
/// Outputs that the tensor has of each group, and those of all tensors.
std::int64_t outputs_of_group(const WeightName& name, bool of_all) {
  std::int64_t out = 0;
  for (const WeightName::Section& section : name.sections)
    if (of_all || section.hugging_face == name.hugging_face) out += section.outputs;
  return out;
}

/// Which part of one published tensor one of our weights is.
struct Slice {
  std::int64_t in = 1, out = 1;  // of ours; vectors have in 1
  Sizes shape;                   // of the published tensor
  bool as_ours = false;          // published as (in, out)
  std::int64_t whole = 1;        // outputs of the published matrix or vector
};

Slice slice_of(const WeightName& name, const WeightShape& weight, Convention convention) {
  Sizes own = weight.shape;
  if (weight.path.find("layers/") != std::string::npos) own.erase(own.begin());
  if (is_of_experts(weight)) own.erase(own.begin());
  Slice s;
  if (weight.kind == WeightKind::embedding)  // rows by rows, as it is
    return {own[1], own[0], own, false};
  s.out = own.back();
  const bool shared = convention == Convention::hugging_face && name.parts > 1;
  s.whole = shared ? s.out * name.parts : name.whole > 0 ? name.whole : s.out;
  if (in_sections(name, convention)) s.whole = name.groups * outputs_of_group(name, false);
  if (weight.kind != WeightKind::matrix && weight.kind != WeightKind::experts &&
      weight.kind != WeightKind::convolution) {
    s.shape = {s.whole};
  } else {
    s.in = own[0];
    s.as_ours = name.as_ours && convention == Convention::hugging_face;
    s.shape = s.as_ours ? Sizes{s.in, s.whole} : Sizes{s.whole, s.in};
  }
  if (name.conv1d && convention == Convention::hugging_face) s.shape.insert(s.shape.begin() + 1, 1);
  if (is_stacked(name, convention)) s.shape.insert(s.shape.begin(), name.experts);
  return s;
}

constexpr std::int64_t kElsewhere = -1;

/// The row of a tensor that holds sections; kElsewhere: another one has it.
std::int64_t row_in_sections(std::int64_t o, const WeightName& name) {
  const std::int64_t width = outputs_of_group(name, true), group = o / width;
  std::int64_t within = o % width, before = 0;
  for (const WeightName::Section& section : name.sections) {
    const bool here = section.hugging_face == name.hugging_face;
    if (within < section.outputs)
      return here ? before + group * section.outputs + within : kElsewhere;
    within -= section.outputs;
    if (here) before += name.groups * section.outputs;
  }
  STRATA_UNREACHABLE("output {} of {} is in no section", o, name.path);
}

/// The row of the published tensor that is our output `o`; kElsewhere where it is in another one.
/// Where GGUF has them paired: within a head, row j of half b stands at 2 j + b.
std::int64_t row_of(std::int64_t o, const WeightName& name, const Slice& s, Convention convention) {
  if (in_sections(name, convention)) return row_in_sections(o, name);
  if (name.parts > 1 && convention == Convention::hugging_face)
    return name.parts_alternate ? o * name.parts + name.part : name.part * s.out + o;
  if (name.paired_heads == 0 || convention != Convention::gguf) return name.begin + o;
  const std::int64_t head = s.out / name.paired_heads, half = head / 2;
  const std::int64_t within = o % head;
  return o - within + 2 * (within % half) + within / half;
}

/// The numbers of a literal of any float type.
std::vector<float> floats(const Literal& literal) {
  std::vector<float> out(static_cast<std::size_t>(literal.count()));
  const auto copy = [&]<class T>(std::span<const T> from) {
    std::transform(from.begin(), from.end(), out.begin(),
                   [](T v) { return static_cast<float>(v); });
  };
  switch (literal.dtype()) {
    case DType::f32: copy(literal.span<float>()); break;
    case DType::bf16: copy(literal.span<BFloat16>()); break;
    case DType::f16: copy(literal.span<Float16>()); break;
    case DType::f64: copy(literal.span<double>()); break;
    default:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(literal.number(static_cast<std::int64_t>(i)));
  }
  return out;
}

/// Calls f(place in ours, place in the published tensor) for each element of a weight, or of a
/// layer of it: in blocks, so that neither side is read across memory.
template <class F>
void for_each_place(const WeightName& name, const Slice& s, WeightKind kind, Convention convention,
                    F f) {
  if (kind == WeightKind::embedding) {
    for (std::int64_t i = 0; i < s.in * s.out; ++i) f(i, i);
    return;
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t o = 0; o < s.out; ++o) rows.push_back(row_of(o, name, s, convention));
  constexpr std::int64_t kBlock = 32;
  for (std::int64_t i0 = 0; i0 < s.in; i0 += kBlock)
    for (std::int64_t o0 = 0; o0 < s.out; o0 += kBlock)
      for (std::int64_t i = i0; i < std::min(i0 + kBlock, s.in); ++i)
        for (std::int64_t o = o0; o < std::min(o0 + kBlock, s.out); ++o) {
          const std::int64_t row = rows[static_cast<std::size_t>(o)];
          if (row == kElsewhere) continue;
          f(i * s.out + o, s.as_ours ? i * s.whole + row : row * s.in + i);
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

/// Copies a weight, or a layer or an expert of it, from the published tensor's element `begin` on
/// into ours from element `to` on.
void copy_in(Literal& ours, std::int64_t to, const Literal& published, std::int64_t begin,
             const WeightName& name, const Slice& s, const WeightShape& weight,
             Convention convention) {
  const std::vector<float> from = floats(published);
  const auto plus = static_cast<float>(convention == Convention::gguf ? name.gguf_plus : 0.0);
  const auto copy = [&]<class T>(T* out) {
    for_each_place(name, s, weight.kind, convention, [&](std::int64_t own, std::int64_t at) {
      out[own] = static_cast<T>(from[static_cast<std::size_t>(begin + at)] - plus);
    });
  };
  if (ours.dtype() == DType::f32)
    copy(reinterpret_cast<float*>(ours.mutable_data()) + to);
  else
    copy(reinterpret_cast<BFloat16*>(ours.mutable_data()) + to);
}

/// The way back, from element `from` of our numbers on.
void copy_out(const std::vector<float>& ours, std::int64_t from, Literal& published,
              std::int64_t begin, const WeightName& name, const Slice& s, const WeightShape& weight,
              Convention convention) {
  const auto plus = static_cast<float>(convention == Convention::gguf ? name.gguf_plus : 0.0);
  const auto copy = [&]<class T>(T* out) {
    for_each_place(name, s, weight.kind, convention, [&](std::int64_t own, std::int64_t at) {
      const float value = ours[static_cast<std::size_t>(from + own)];
      out[begin + at] = static_cast<T>(plus == 0 ? value : value + plus);  // -0 stays
    });
  };
  if (published.dtype() == DType::f32)
    copy(reinterpret_cast<float*>(published.mutable_data()));
  else
    copy(reinterpret_cast<BFloat16*>(published.mutable_data()));
}

/// A weight is as many pieces as it has layers, or layers times experts. The name of one: in a GGUF
/// file, where those of a layer's experts are one tensor, and in a Hugging Face directory.
std::string gguf_name(const WeightName& name, std::int64_t piece) {
  return numbered(name.gguf, layer_of(name, piece));
}
std::string hugging_face_name(const WeightName& name, std::int64_t piece) {
  const std::int64_t experts = std::max<std::int64_t>(name.experts, 1);
  return numbered(name.hugging_face, layer_of(name, piece), piece % experts);
}
std::string prefixed(const Names& names, const std::string& prefix, const std::string& name) {
  const auto& plain = names.without_prefix;
  return std::find(plain.begin(), plain.end(), name) != plain.end() ? name : prefix + name;
}
/// The element of the published tensor that a piece begins at.
std::int64_t begin_of(const WeightName& name, const Slice& s, std::int64_t piece,
                      Convention convention) {
  return is_stacked(name, convention) ? piece % name.experts * s.in * s.whole : 0;
}

/// Names in the source: prefixes and old endings found out.
class Resolver {
 public:
  Resolver(const Names& names, const TensorSource& source)
      : names_(names), source_(source), prefix_(prefix_of(names, source)) {}

  /// The published name of a weight; what it should be called where it is not there.
  std::string of(const WeightName& name, std::int64_t piece) const {
    if (source_.convention() == Convention::gguf) return gguf_name(name, piece);
    const std::string now = prefixed(names_, prefix_, hugging_face_name(name, piece));
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

/// The names that a source has: those `instead` where the first of them is there.
Names names_in(const Names& names, const TensorSource& source) {
  if (names.instead.empty() || source.convention() == Convention::gguf) return names;
  const Resolver resolver(names, source);
  if (!source.shapes().contains(resolver.of(names.instead.front(), 0))) return names;
  Names out = names;
  for (const WeightName& name : names.instead) replace(out, name);
  return out;
}

/// The weights that have names.
std::vector<WeightShape> published_weights(const Options& options, const Names& names) {
  std::vector<WeightShape> out = decoder::weight_shapes(options);
  std::erase_if(out, [&](const WeightShape& w) {
    return w.path.starts_with("mtp_layers/") && !is_published(names, w.path);
  });
  return out;
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

/// How many layers, or experts of layers, a weight holds.
std::int64_t pieces_of(const WeightShape& w) {
  if (w.path.find("layers/") == std::string::npos) return 1;
  return is_of_experts(w) ? w.shape[0] * w.shape[1] : w.shape[0];
}

Status compare(const std::vector<WeightShape>& weights, const Names& names,
               const Resolver& resolver, const TensorSource& source) {
  std::vector<std::string> missing, misshapen, surplus;
  std::set<std::string> used;
  for (const WeightShape& w : weights)
    for (const WeightName& name : tensors_of(name_of(names, w.path), source.convention())) {
      const Slice s = slice_of(name, w, source.convention());
      for (std::int64_t layer = 0; layer < pieces_of(w); ++layer) {
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

/// Reads what a tensor of each layer, or expert of a layer, has of a weight.
Status read_in(Literal& ours, const WeightName& name, const WeightShape& w,
               const Resolver& resolver, const TensorSource& source) {
  const Slice s = slice_of(name, w, source.convention());
  std::string last;
  Result<Literal> tensor = Literal();
  for (std::int64_t layer = 0; layer < pieces_of(w); ++layer) {
    const std::string published = resolver.of(name, layer);
    if (published != last) tensor = source.read(published);
    if (!tensor) return tensor.status();
    last = published;
    if (!is_float(tensor->dtype()))
      return Status(Code::unsupported, "{}: tensor '{}' is {}; weights are floating-point numbers",
                    source.name(), published, strata::name(tensor->dtype()));
    copy_in(ours, layer * s.in * s.out, *tensor, begin_of(name, s, layer, source.convention()),
            name, s, w, source.convention());
  }
  return {};
}

}  // namespace

Result<tree::Tree> load_weights(const Options& options, const Names& published,
                                const TensorSource& source, DType dtype) {
  const Names names = names_in(published, source);
  if (dtype != DType::f32 && dtype != DType::bf16)
    throw Error("load_weights", "weights are f32 or bf16, got {}", strata::name(dtype));
  const std::vector<WeightShape> weights = published_weights(options, names);
  if (weights.size() != decoder::weight_shapes(options).size())
    return Status(Code::unsupported,
                  "{}: mtp_num_layers={}: models of {} are published without layers that predict "
                  "further tokens",
                  source.name(), options.mtp_layers, options.family);
  const Resolver resolver(names, source);
  if (Status same = compare(weights, names, resolver, source); !same) return same;
  std::map<std::string, Array, std::less<>> arrays;
  for (const WeightShape& w : weights) {
    const WeightName& name = name_of(names, w.path);
    const Slice s = slice_of(name, w, source.convention());
    if (const auto packed = options.packed.find(w.path); packed != options.packed.end()) {
      std::vector<std::int64_t> shape = {s.out, packed->second.row_bytes(s.in)};
      if (w.path.find("layers/") != std::string::npos) shape.insert(shape.begin(), pieces_of(w));
      Literal ours(Type(DType::ui8, Shape::of(shape)));
      for (std::int64_t layer = 0; layer < pieces_of(w); ++layer) {
        Result<Literal> tensor = source.read_packed(resolver.of(name, layer));
        if (!tensor) return tensor.status();
        copy_packed(ours, layer, *tensor, name, s, w, source.convention());
      }
      arrays.emplace(w.path, Array(std::move(ours)));
      continue;
    }
    const DType kept = w.kind == WeightKind::choice_bias ? DType::f32 : dtype;
    Literal ours(Type(kept, Shape::of(w.shape)));
    for (const WeightName& one : tensors_of(name, source.convention()))
      if (Status status = read_in(ours, one, w, resolver, source); !status) return status;
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
  for (const WeightShape& w : published_weights(options, names)) {
    const WeightName& name = name_of(names, w.path);
    // W_kv_b is multiplied into queries as it is, where there is a cache.
    if (w.path.ends_with("latent_attention/kv_b/kernel")) continue;
    const bool plain = name.gguf_plus == 0 && !in_sections(name, source.convention()) &&
                       !slice_of(name, w, source.convention()).as_ours;
    if ((w.kind != WeightKind::matrix && w.kind != WeightKind::embedding) || !plain) continue;
    const std::optional<BlockFormat> format = source.packed(resolver.of(name, 0));
    bool alike = format.has_value();
    for (std::int64_t layer = 1; layer < pieces_of(w); ++layer)
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
  for (const WeightShape& w : published_weights(options, names)) {
    const Literal ours = params[w.path].literal();
    if (ours.shape().sizes() != w.shape)
      throw Error("published_tensors", "{} is {} and should be {}", w.path,
                  text(ours.shape().sizes()), text(w.shape));
    if (ours.dtype() != DType::f32 && ours.dtype() != DType::bf16)
      throw Error("published_tensors", "{} is {}; weights are f32 or bf16", w.path,
                  strata::name(ours.dtype()));
    const std::vector<float> from = floats(ours);
    for (const WeightName& name : tensors_of(name_of(names, w.path), convention)) {
      const Slice s = slice_of(name, w, convention);
      for (std::int64_t layer = 0; layer < pieces_of(w); ++layer) {
        const std::string published =
            gguf ? gguf_name(name, layer) : prefixed(names, prefix, hugging_face_name(name, layer));
        const auto [it, made] =
            out.try_emplace(published, Literal(Type(ours.dtype(), Shape::of(s.shape))));
        copy_out(from, layer * s.in * s.out, it->second, begin_of(name, s, layer, convention), name,
                 s, w, convention);
      }
    }
  }
  if (!gguf)
    for (const auto& [copy, of] : names.copies) out[prefix + copy] = out.at(prefix + of);
  return out;
}

std::vector<PublishedTensor> published_layout(const Options& options, const Names& names) {
  const std::string prefix = names.prefixes.empty() ? "" : names.prefixes[0];
  std::map<std::string, std::size_t> places;
  std::vector<PublishedTensor> out;
  for (const WeightShape& w : published_weights(options, names)) {
    const std::vector<WeightName> tensors =
        tensors_of(name_of(names, w.path), Convention::hugging_face);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const Slice s = slice_of(tensors[t], w, Convention::hugging_face);
      for (std::int64_t piece = 0; piece < pieces_of(w); ++piece) {
        const std::string published = prefixed(names, prefix, hugging_face_name(tensors[t], piece));
        const auto [it, made] = places.emplace(published, out.size());
        if (made) out.push_back({.name = published, .shape = s.shape});
        out[it->second].parts.push_back({w.path, piece, t});
      }
    }
  }
  for (const auto& [copy, of] : names.copies) {
    out.push_back(out[places.at(prefix + of)]);
    out.back().name = prefix + copy;
  }
  return out;
}

Result<std::vector<float>> published_tensor(
    const Options& options, const Names& names, const PublishedTensor& tensor,
    const std::function<Result<std::vector<float>>(const std::string&, std::int64_t)>& read) {
  constexpr Convention kConvention = Convention::hugging_face;
  Literal out(Type(DType::f32, Shape::of(tensor.shape)));
  for (const WeightShape& w : published_weights(options, names))
    for (const PublishedTensor::Part& part : tensor.parts) {
      if (part.path != w.path) continue;
      const WeightName name = tensors_of(name_of(names, w.path), kConvention)[part.tensor];
      const Slice s = slice_of(name, w, kConvention);
      const auto numbers = read(part.path, part.piece);
      if (!numbers) return numbers.status();
      if (std::ssize(*numbers) != s.in * s.out)
        return Status(Code::invalid, "a piece of {} has {} elements and should have {}", w.path,
                      numbers->size(), s.in * s.out);
      copy_out(*numbers, 0, out, begin_of(name, s, part.piece, kConvention), name, s, w,
               kConvention);
    }
  const auto all = out.span<float>();
  return std::vector<float>(all.begin(), all.end());
}

}  // namespace strata::model::published
