#include "strata/ir/export/jax_export.h"

#include <flatbuffers/flatbuffers.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "strata/ir/bytecode/reader.h"

namespace strata::ir {
namespace {

using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;
using flatbuffers::Verifier;
using flatbuffers::voffset_t;

/// Where the n-th field of a table has its offset in the table's index.
constexpr voffset_t field(int n) { return static_cast<voffset_t>(4 + 2 * n); }

using Strings = Vector<Offset<String>>;

/// PyTreeDef {kind, children, children_names, custom_name, custom_auxdata}
struct Tree : flatbuffers::Table {
  enum Kind : std::uint8_t { leaf, none, tuple, list, dict, custom };
  std::uint8_t kind() const { return GetField<std::uint8_t>(field(0), leaf); }
  const Vector<Offset<Tree>>* children() const {
    return GetPointer<const Vector<Offset<Tree>>*>(field(1));
  }
  const Strings* names() const { return GetPointer<const Strings*>(field(2)); }

  bool Verify(Verifier& v) const {
    if (!VerifyTableStart(v) || !VerifyField<std::uint8_t>(v, field(0), 1)) return false;
    if (!VerifyOffset(v, field(1)) || !v.VerifyVector(children()) ||
        !v.VerifyVectorOfTables(children()))
      return false;
    if (!VerifyOffset(v, field(2)) || !v.VerifyVector(names()) || !v.VerifyVectorOfStrings(names()))
      return false;
    return v.EndTable();
  }
};

/// AbstractValue {kind, shape, dtype, ...}; dimensions are text: numbers or expressions of names.
struct Aval : flatbuffers::Table {
  bool is_array() const { return GetField<std::uint8_t>(field(0), 0) == 0; }
  const Strings* shape() const { return GetPointer<const Strings*>(field(1)); }
  std::uint8_t dtype() const { return GetField<std::uint8_t>(field(2), 0); }

  bool Verify(Verifier& v) const {
    if (!VerifyTableStart(v) || !VerifyField<std::uint8_t>(v, field(0), 1) ||
        !VerifyField<std::uint8_t>(v, field(2), 1))
      return false;
    return VerifyOffset(v, field(1)) && v.VerifyVector(shape()) &&
           v.VerifyVectorOfStrings(shape()) && v.EndTable();
  }
};
using Avals = Vector<Offset<Aval>>;
using Numbers = Vector<std::uint32_t>;

/// Effect {type_name}
struct Effect : flatbuffers::Table {
  const String* name() const { return GetPointer<const String*>(field(0)); }

  bool Verify(Verifier& v) const {
    return VerifyTableStart(v) && VerifyOffset(v, field(0)) && v.VerifyString(name()) &&
           v.EndTable();
  }
};

/// DisabledSafetyCheck {kind, custom_call_target}
struct Disabled : flatbuffers::Table {
  bool is_platform() const { return GetField<std::uint8_t>(field(0), 0) == 0; }

  bool Verify(Verifier& v) const {
    return VerifyTableStart(v) && VerifyField<std::uint8_t>(v, field(0), 1) && v.EndTable();
  }
};

struct Exported : flatbuffers::Table {
  const String* function() const { return GetPointer<const String*>(field(1)); }
  const Tree* inputs() const { return GetPointer<const Tree*>(field(2)); }
  const Tree* outputs() const { return GetPointer<const Tree*>(field(4)); }
  const Avals* input_avals() const { return GetPointer<const Avals*>(field(3)); }
  const Avals* output_avals() const { return GetPointer<const Avals*>(field(5)); }
  /// Since version 10: each different one once, and which one each input and output has.
  const Avals* avals() const { return GetPointer<const Avals*>(field(19)); }
  const Numbers* input_aval_numbers() const { return GetPointer<const Numbers*>(field(22)); }
  const Numbers* output_aval_numbers() const { return GetPointer<const Numbers*>(field(23)); }
  std::uint32_t devices() const {
    const std::uint32_t wide = GetField<std::uint32_t>(field(18), 0);
    return wide != 0 ? wide : GetField<std::uint16_t>(field(6), 0);
  }
  const Strings* platforms() const { return GetPointer<const Strings*>(field(9)); }
  const Vector<Offset<Effect>>* ordered_effects() const {
    return GetPointer<const Vector<Offset<Effect>>*>(field(10));
  }
  const Vector<Offset<Disabled>>* disabled_checks() const {
    return GetPointer<const Vector<Offset<Disabled>>*>(field(12));
  }
  const Vector<std::uint8_t>* program() const {
    return GetPointer<const Vector<std::uint8_t>*>(field(13));
  }
  std::uint16_t calling_convention() const { return GetField<std::uint16_t>(field(14), 0); }
  const Vector<std::uint16_t>* kept() const {
    return GetPointer<const Vector<std::uint16_t>*>(field(15));
  }

  bool Verify(Verifier& v) const {
    if (!VerifyTableStart(v)) return false;
    if (!VerifyOffset(v, field(1)) || !v.VerifyString(function())) return false;
    for (const auto& [number, tree] :
         {std::pair{2, &Exported::inputs}, std::pair{4, &Exported::outputs}})
      if (!VerifyOffset(v, field(number)) || !v.VerifyTable((this->*tree)())) return false;
    for (const auto& [number, list] :
         {std::pair{3, &Exported::input_avals}, std::pair{5, &Exported::output_avals},
          std::pair{19, &Exported::avals}})
      if (!VerifyOffset(v, field(number)) || !v.VerifyVector((this->*list)()) ||
          !v.VerifyVectorOfTables((this->*list)()))
        return false;
    for (const auto& [number, list] : {std::pair{22, &Exported::input_aval_numbers},
                                       std::pair{23, &Exported::output_aval_numbers}})
      if (!VerifyOffset(v, field(number)) || !v.VerifyVector((this->*list)())) return false;
    if (!VerifyField<std::uint16_t>(v, field(6), 2) || !VerifyField<std::uint32_t>(v, field(18), 4))
      return false;
    if (!VerifyOffset(v, field(9)) || !v.VerifyVector(platforms()) ||
        !v.VerifyVectorOfStrings(platforms()))
      return false;
    if (!VerifyOffset(v, field(10)) || !v.VerifyVector(ordered_effects()) ||
        !v.VerifyVectorOfTables(ordered_effects()))
      return false;
    if (!VerifyOffset(v, field(12)) || !v.VerifyVector(disabled_checks()) ||
        !v.VerifyVectorOfTables(disabled_checks()))
      return false;
    if (!VerifyOffsetRequired(v, field(13)) || !v.VerifyVector(program())) return false;
    if (!VerifyField<std::uint16_t>(v, field(14), 2)) return false;
    if (!VerifyOffset(v, field(15)) || !v.VerifyVector(kept())) return false;
    return v.EndTable();
  }
};

/// The bytes at an address at which numbers may be read: their own, or a copy's.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes)
      : data_(reinterpret_cast<const std::uint8_t*>(bytes.data())) {
    if (reinterpret_cast<std::uintptr_t>(data_) % sizeof(std::uint64_t) == 0) return;
    copy_.resize((bytes.size() + 7) / 8);
    std::memcpy(copy_.data(), bytes.data(), bytes.size());
    data_ = reinterpret_cast<const std::uint8_t*>(copy_.data());
  }
  const std::uint8_t* data() const { return data_; }

 private:
  const std::uint8_t* data_;
  std::vector<std::uint64_t> copy_;
};

/// The root if every table that is read is whole.
const Exported* verified(const Aligned& bytes, std::size_t size) {
  if (size >= FLATBUFFERS_MAX_BUFFER_SIZE) return nullptr;
  Verifier v(bytes.data(), size);
  return v.VerifyBuffer<Exported>() ? flatbuffers::GetRoot<Exported>(bytes.data()) : nullptr;
}

std::string_view program_in(const Exported& e) {
  return {reinterpret_cast<const char*>(e.program()->data()), e.program()->size()};
}

/// The number in front of a dimension's text if it is nothing else.
std::optional<std::int64_t> size_of(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && n >= 0 ? std::optional(n)
                                                                            : std::nullopt;
}

/// What the export's numbers of dtypes say; the last three are keys of random numbers.
constexpr DType kDtypes[] = {
    DType::i1,
    DType::i8,
    DType::i16,
    DType::i32,
    DType::i64,
    DType::ui8,
    DType::ui16,
    DType::ui32,
    DType::ui64,
    DType::f16,
    DType::f32,
    DType::f64,
    DType::c64,
    DType::c128,
    DType::bf16,
    DType::i4,
    DType::ui4,
    DType::f8E4M3B11FNUZ,
    DType::f8E4M3FN,
    DType::f8E4M3FNUZ,
    DType::f8E5M2,
    DType::f8E5M2FNUZ,
    DType::i1 /* float0 */,
    DType::f8E4M3,
    DType::f8E3M4,
    DType::f8E8M0FNU,
    DType::f4E2M1FN,
    DType::ui32,
    DType::ui32,
    DType::ui32,
};
constexpr int kThreefryKey = 27;

std::string step(const Tree& tree, flatbuffers::uoffset_t child) {
  switch (tree.kind()) {
    case Tree::tuple:
    case Tree::list: return fmt::format("[{}]", child);
    case Tree::dict: return fmt::format("['{}']", tree.names()->Get(child)->string_view());
    default: return fmt::format("[<flat index {}>]", child);
  }
}

/// What an export says, copied out of its tables. A string or a tree may be named more than once,
/// so that few bytes could say endlessly much: all text together is bounded.
class Reader {
 public:
  explicit Reader(const Exported& e) : e_(e) {}

  Result<JaxExport> read() {
    JaxExport out;
    if (e_.devices() < 1 || e_.devices() > 1u << 20)
      return Status(Code::corrupt, "an export for {} devices", e_.devices());
    out.devices = e_.devices();
    if (Status s = text(e_.function(), out.function); !s.ok()) return s;
    if (Status s = inputs(out.inputs); !s.ok()) return s;
    if (Status s = leaves(e_.outputs(), "", out.outputs); !s.ok()) return s;
    for (flatbuffers::uoffset_t i = 0; e_.platforms() != nullptr && i < e_.platforms()->size(); ++i)
      if (Status s = text(e_.platforms()->Get(i), out.platforms.emplace_back()); !s.ok()) return s;
    for (flatbuffers::uoffset_t i = 0;
         e_.ordered_effects() != nullptr && i < e_.ordered_effects()->size(); ++i)
      if (Status s = text(e_.ordered_effects()->Get(i)->name(), out.ordered_effects.emplace_back());
          !s.ok())
        return s;
    if (Status s =
            types(e_.input_avals(), e_.input_aval_numbers(), out.inputs.size(), out.input_types);
        !s.ok())
      return s;
    if (Status s = types(e_.output_avals(), e_.output_aval_numbers(), out.outputs.size(),
                         out.output_types);
        !s.ok())
      return s;
    for (flatbuffers::uoffset_t i = 0;
         e_.disabled_checks() != nullptr && i < e_.disabled_checks()->size(); ++i)
      out.any_platform |= e_.disabled_checks()->Get(i)->is_platform();
    out.calling_convention = e_.calling_convention();
    for (flatbuffers::uoffset_t i = 0; e_.kept() != nullptr && i < e_.kept()->size(); ++i) {
      if (e_.kept()->Get(i) >= out.inputs.size())
        return Status(Code::corrupt, "the program takes input {} of {}", e_.kept()->Get(i),
                      out.inputs.size());
      out.kept.push_back(e_.kept()->Get(i));
    }
    return out;
  }

 private:
  static constexpr std::size_t kText = std::size_t{1} << 26;

  Status text(const String* from, std::string& to) {
    if (from == nullptr) return Status();
    if (Status s = count(from->size()); !s.ok()) return s;
    to = from->str();
    return Status();
  }

  Status count(std::size_t characters) {
    text_ += characters;
    return text_ <= kText ? Status()
                          : Status(Code::unsupported, "names of more than {} characters", kText);
  }

  Status type(const Aval& aval, std::vector<Type>& out) {
    if (!aval.is_array()) return out.push_back(Type::token()), Status();
    if (aval.dtype() >= std::size(kDtypes))
      return Status(Code::unsupported, "dtype number {}", aval.dtype());
    std::vector<Dim> dims;
    for (flatbuffers::uoffset_t i = 0; aval.shape() != nullptr && i < aval.shape()->size(); ++i) {
      const std::string_view text = aval.shape()->Get(i)->string_view();
      if (Status s = count(text.size() + 1); !s.ok()) return s;
      const std::optional<std::int64_t> size = size_of(text);
      dims.push_back(size ? Dim(*size) : Dim::symbolic(std::string(text)));
    }
    if (aval.dtype() >= kThreefryKey) dims.emplace_back(aval.dtype() == kThreefryKey ? 2 : 4);
    out.emplace_back(kDtypes[aval.dtype()], Shape(std::move(dims)));
    return Status();
  }

  /// The types of the leaves, from the table of different ones where there is one.
  Status types(const Avals* each, const Numbers* numbers, std::size_t leaves,
               std::vector<Type>& out) {
    const bool shared = numbers != nullptr && numbers->size() > 0;
    const std::size_t stated = shared ? numbers->size() : each == nullptr ? 0 : each->size();
    if (stated != leaves) return Status(Code::corrupt, "types of {} leaves for {}", stated, leaves);
    for (flatbuffers::uoffset_t i = 0; i < stated; ++i) {
      if (shared && (e_.avals() == nullptr || numbers->Get(i) >= e_.avals()->size()))
        return Status(Code::corrupt, "no type number {}", numbers->Get(i));
      if (Status s = type(shared ? *e_.avals()->Get(numbers->Get(i)) : *each->Get(i), out); !s.ok())
        return s;
    }
    return Status();
  }

  /// A pair: positional arguments, named ones.
  Status inputs(std::vector<std::string>& out) {
    const Tree* tree = e_.inputs();
    if (tree == nullptr || tree->kind() != Tree::tuple || tree->children() == nullptr ||
        tree->children()->size() != 2)
      return Status(Code::corrupt,
                    "the tree of inputs is no pair of positional and named arguments");
    for (flatbuffers::uoffset_t i = 0; i < 2; ++i)
      if (Status s = leaves(tree->children()->Get(i), "", out); !s.ok()) return s;
    return Status();
  }

  /// The paths of the leaves, each behind `prefix`. The verifier has bounded the depth.
  Status leaves(const Tree* tree, const std::string& prefix, std::vector<std::string>& out) {
    if (tree == nullptr) return Status(Code::corrupt, "no tree of arguments or results");
    if (tree->kind() > Tree::custom)
      return Status(Code::unsupported, "a tree's node of kind {}", tree->kind());
    if (Status s = count(prefix.size() + 1); !s.ok()) return s;
    const flatbuffers::uoffset_t children =
        tree->children() == nullptr ? 0 : tree->children()->size();
    if (children > 0 && (tree->kind() == Tree::leaf || tree->kind() == Tree::none))
      return Status(Code::corrupt, "a leaf with children");
    if (tree->kind() == Tree::dict &&
        children != (tree->names() == nullptr ? 0 : tree->names()->size()))
      return Status(Code::corrupt, "a dict of {} children without a name for each", children);
    if (tree->kind() == Tree::leaf) out.push_back(prefix);
    for (flatbuffers::uoffset_t i = 0; i < children; ++i)
      if (Status s = leaves(tree->children()->Get(i), prefix + step(*tree, i), out); !s.ok())
        return s;
    return Status();
  }

  const Exported& e_;
  std::size_t text_ = 0;
};

/// Reads numbers at places that may be outside.
template <class T>
std::optional<T> number_at(std::string_view bytes, std::uint64_t at) {
  T out;
  if (at + sizeof out > bytes.size()) return std::nullopt;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

/// Where the program's offset is, if the bytes begin with a table that may be an export's: an
/// index near the front whose fields are inside of the table, the program's among them.
std::optional<std::uint64_t> place_of_program(std::string_view bytes) {
  constexpr std::uint64_t kFront = 4096, kMostFields = 64;
  const auto root = number_at<std::uint32_t>(bytes, 0);
  if (!root || *root < 4 || *root > kFront) return std::nullopt;
  const auto back = number_at<std::int32_t>(bytes, *root);
  if (!back || *back > static_cast<std::int64_t>(*root) - 4) return std::nullopt;
  const auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(*root) - *back);
  const auto size = number_at<std::uint16_t>(bytes, index),
             table = number_at<std::uint16_t>(bytes, index + 2);
  if (!size || !table || *size % 2 != 0 || *size <= field(13) || *size > field(kMostFields))
    return std::nullopt;
  for (voffset_t f = field(0); f < *size; f += 2) {
    const auto at = number_at<std::uint16_t>(bytes, index + f);
    if (!at || *at >= *table) return std::nullopt;
    if (f == field(13) && *at == 0) return std::nullopt;
  }
  return *root + *number_at<std::uint16_t>(bytes, index + field(13));
}

}  // namespace

Status broken_jax_export(std::string_view bytes, std::string_view filename) {
  const auto place = place_of_program(bytes);
  if (!place || is_bytecode(bytes) || is_jax_export(bytes)) return {};
  const auto offset = number_at<std::uint32_t>(bytes, *place);
  const std::uint64_t program = *place + offset.value_or(0);
  const auto length = number_at<std::uint32_t>(bytes, program);
  const std::uint64_t needs = program + 4 + length.value_or(0);
  if (needs > bytes.size())
    return Status(Code::corrupt,
                  "{}: an export of JAX that is cut short: it says that it has {} bytes at least, "
                  "the file has {}",
                  filename, needs, bytes.size());
  return Status(Code::corrupt,
                "{}: an export of JAX that is cut short or damaged: its tables are not whole in {} "
                "bytes",
                filename, bytes.size());
}

bool is_jax_export(std::string_view bytes) {
  if (is_bytecode(bytes)) return false;
  const Aligned aligned(bytes);
  const Exported* e = verified(aligned, bytes.size());
  return e != nullptr && is_bytecode(program_in(*e));
}

Result<JaxExport> read_jax_export(std::string_view bytes, std::string_view filename) {
  const Aligned aligned(bytes);
  const Exported* e = verified(aligned, bytes.size());
  if (e == nullptr) return Status(Code::corrupt, "{}: no whole export of JAX", filename);
  Result<JaxExport> out = Reader(*e).read();
  if (!out) return Status(out.status().code(), "{}: {}", filename, out.status().message());
  out->program = bytes.substr(static_cast<std::size_t>(e->program()->data() - aligned.data()),
                              e->program()->size());
  return out;
}

}  // namespace strata::ir
