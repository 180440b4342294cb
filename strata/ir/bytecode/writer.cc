#include "strata/ir/bytecode/writer.h"

#include <algorithm>
#include <unordered_map>

#include "strata/ir/bytecode/entries.h"
#include "strata/ir/bytecode/entry_writer.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/dims_text.h"
#include "strata/ir/text/format.h"

namespace strata::ir {
namespace bytecode {
namespace {

constexpr Release kOldestWritten{1, 10};

/// What an operation has, by bits of a byte.
enum Mask : std::uint8_t {
  kAttributes = 1,
  kResults = 2,
  kOperands = 4,
  kRegions = 16,
  kProperties = 64
};

constexpr std::string_view kVhlo = "vhlo";

/// What text has in one attribute and VHLO in several, by one of these: of an operation that has
/// that one.
struct Packed {
  const char *name, *part;
};
constexpr Packed kPacked[] = {{"algorithm", "lhs_precision_type"},
                              {"channel_handle", "channel_id"},
                              {"dimension_numbers", "input_batch_dimension"},
                              {"dimension_numbers", "start_index_map"},
                              {"dot_dimension_numbers", "lhs_contracting_dimensions"},
                              {"scatter_dimension_numbers", "update_window_dims"}};

std::string_view dialect_of(const Op& op) {
  return std::string_view(op.name()).substr(0, op.name().find('.'));
}
/// Whether it stands beside VHLO, in builtin types.
bool is_foreign(const Op& op) { return dialect_of(op) == "sdy" || dialect_of(op) == "chlo"; }

/// A form of each operation, made once: names are given to the blocks that it makes.
class Forms {
 public:
  const GenericForm& of(const Op& op) {
    if (auto it = forms_.find(&op); it != forms_.end()) return it->second;
    const TextFormat* format = op.info().text;
    GenericForm made;
    if (format != nullptr && format->to_generic != nullptr) {
      made = format->to_generic(op);
    } else {
      made.attrs = op.attrs;
      for (const auto& r : op.regions) made.regions.push_back(r.get());
    }
    return forms_.emplace(&op, std::move(made)).first->second;
  }

 private:
  std::unordered_map<const Op*, GenericForm> forms_;  // looked up, never iterated
};

class ModuleWriter {
 public:
  explicit ModuleWriter(Release release) : release_(release), entries_(tables_, release) {}

  std::string write(const Module& m) {
    ByteWriter ir;
    ir.flagged(1, false);
    module(m, ir);
    return tables_.file(fmt::format("StableHLO_v{}.{}.0", release_.major, release_.minor),
                        ir.text());
  }

 private:
  /// The parts of an operation that follow its name.
  struct Parts {
    Attrs attributes;
    Flavor flavor = Flavor::vhlo;
    ByteWriter properties;
    bool has_properties = false;
    std::vector<std::size_t> results, operands;  // types, values
    std::size_t regions = 0;
  };
  void put(std::string_view dialect, std::string_view name, const Parts& parts, ByteWriter& out);

  // ---- values have numbers in the order of their definition; those of a region follow all those
  // of the region around it

  std::size_t count_values(const Block& block, bool is_beside);
  std::size_t count_operations(const Block& block, bool is_beside);
  void region(const Block& block, const Op* holder, ByteWriter& out);
  void arguments(const Block& block, bool is_beside, ByteWriter& out);
  void terminator(const Block& block, const Op* holder, ByteWriter& out);
  void define(const Value* value) { numbers_[value] = next_++; }
  std::size_t number(const Value* value, std::string_view user) const;
  std::size_t cast(std::size_t from, const Type& type, Flavor to, ByteWriter& out);
  void operation(const Op& op, ByteWriter& out);
  void operation_beside(const Op& op, ByteWriter& out);
  void finish(const Op& op, std::string_view dialect, std::string_view name, Parts& parts,
              ByteWriter& out);

  // ---- attributes: an operation's own in their order, and the others

  std::size_t property(const Op& op, const GenericForm& form, std::string_view name);
  std::size_t default_of(const Op& op, std::string_view name, const AttributeRule* rule);
  std::size_t api_version(const Attr* attr);
  std::size_t algorithm_field(const GenericForm& form, std::string_view name);
  [[noreturn]] void too_old(std::string_view what) const;

  void module(const Module& m, ByteWriter& out);
  void mesh(const Mesh& m, ByteWriter& out);
  void function(const Function& f, ByteWriter& out);

  Release release_;
  Tables tables_;
  EntryWriter entries_;
  Forms forms_;
  std::unordered_map<const Value*, std::size_t> numbers_;  // looked up, never iterated
  std::size_t next_ = 0, end_ = 0;                         // of the region under way
};

void ModuleWriter::too_old(std::string_view what) const {
  throw FormatError{
      Code::unsupported, 0,
      fmt::format("release {}.{}.0 of StableHLO has no {}", release_.major, release_.minor, what)};
}

// ---- operations --------------------------------------------------------------------------------

void ModuleWriter::put(std::string_view dialect, std::string_view name, const Parts& parts,
                       ByteWriter& out) {
  auto list = [&](const std::vector<std::size_t>& all) {
    if (all.empty()) return;
    out.varint(all.size());
    for (std::size_t n : all) out.varint(n);
  };
  int mask = (parts.attributes.empty() ? 0 : kAttributes) |
             (parts.has_properties ? kProperties : 0) | (parts.results.empty() ? 0 : kResults) |
             (parts.operands.empty() ? 0 : kOperands) | (parts.regions == 0 ? 0 : kRegions);
  out.varint(tables_.operation(dialect, name));
  out.byte(static_cast<std::uint8_t>(mask));
  out.varint(entries_.unknown_location());
  if (!parts.attributes.empty()) out.varint(entries_.dictionary(parts.attributes, parts.flavor));
  if (parts.has_properties) out.varint(tables_.properties(parts.properties.text()));
  list(parts.results);
  list(parts.operands);
  bool is_module = name == "module";  // the one whose region sees nothing around it
  if (parts.regions > 0) out.flagged(parts.regions, is_module);
}

std::size_t ModuleWriter::number(const Value* value, std::string_view user) const {
  auto it = numbers_.find(value);
  if (it == numbers_.end())
    throw FormatError{Code::invalid, 0,
                      fmt::format("{} uses a value that is not defined before", user)};
  return it->second;
}

/// A value in a type of the other dialect.
std::size_t ModuleWriter::cast(std::size_t from, const Type& type, Flavor to, ByteWriter& out) {
  Parts parts;
  parts.results = {entries_.type(type, to)};
  parts.operands = {from};
  put("builtin", "unrealized_conversion_cast", parts, out);
  return next_++;
}

std::size_t ModuleWriter::count_values(const Block& block, bool is_beside) {
  std::size_t out =
      block.arguments().size() + (is_beside ? block.arguments().size() + block.results.size() : 0);
  for (const auto& op : block.ops()) {
    auto results = static_cast<std::size_t>(op->num_results());
    out += is_foreign(*op) ? op->operands.size() + 2 * results : results;
  }
  return out;
}

std::size_t ModuleWriter::count_operations(const Block& block, bool is_beside) {
  std::size_t out =
      block.ops().size() + 1 + (is_beside ? block.arguments().size() + block.results.size() : 0);
  for (const auto& op : block.ops())
    if (is_foreign(*op)) out += op->operands.size() + static_cast<std::size_t>(op->num_results());
  return out;
}

void ModuleWriter::arguments(const Block& block, bool is_beside, ByteWriter& out) {
  if (block.num_arguments() == 0) return;
  out.varint(block.arguments().size());
  for (const auto& a : block.arguments()) {
    out.flagged(entries_.type(a->type(), is_beside ? Flavor::builtin : Flavor::vhlo), false);
    define(a.get());
  }
  out.byte(0);  // no orders of uses
  if (!is_beside) return;
  for (const auto& a : block.arguments())
    numbers_[a.get()] = cast(numbers_[a.get()], a->type(), Flavor::vhlo, out);
}

void ModuleWriter::terminator(const Block& block, const Op* holder, ByteWriter& out) {
  bool is_beside = holder != nullptr && is_foreign(*holder);
  Parts parts;
  for (const Value* v : block.results) parts.operands.push_back(number(v, "a return"));
  for (std::size_t i = 0; is_beside && i < parts.operands.size(); ++i)
    parts.operands[i] = cast(parts.operands[i], block.results[i]->type(), Flavor::builtin, out);
  put(is_beside ? dialect_of(*holder) : kVhlo, is_beside ? "return" : "return_v1", parts, out);
}

void ModuleWriter::region(const Block& b, const Op* holder, ByteWriter& out) {
  bool is_beside = holder != nullptr && is_foreign(*holder);
  std::size_t next = next_, begin = end_, count = count_values(b, is_beside);
  next_ = begin;
  end_ = begin + count;
  out.varint(1);
  out.varint(count);
  out.flagged(count_operations(b, is_beside), b.num_arguments() > 0);
  arguments(b, is_beside, out);
  for (const auto& op : b.ops()) operation(*op, out);
  terminator(b, holder, out);
  STRATA_CHECK(next_ == end_, "a region of {} values has {}", count, next_ - begin);
  next_ = next;
  end_ = begin;
}

/// Its results and what is inside it.
void ModuleWriter::finish(const Op& op, std::string_view dialect, std::string_view name,
                          Parts& parts, ByteWriter& out) {
  const GenericForm& form = forms_.of(op);
  for (const Value* v : op.results())
    parts.results.push_back(entries_.type(v->type(), parts.flavor));
  parts.regions = form.regions.size();
  put(dialect, name, parts, out);
  for (const Value* v : op.results()) define(v);
  for (const Block* b : form.regions) region(*b, &op, out);
}

void ModuleWriter::operation(const Op& op, ByteWriter& out) {
  if (is_foreign(op)) return operation_beside(op, out);
  if (dialect_of(op) != "stablehlo" && dialect_of(op) != "func")
    throw FormatError{
        Code::unsupported, 0,
        fmt::format("operation {} has no form in StableHLO; the pass 'export' may give it one",
                    op.name())};
  std::optional<std::string> name = vhlo_name(op.name(), release_);
  if (!name) too_old(fmt::format("operation {}", op.name()));
  const GenericForm& form = forms_.of(op);
  for (std::string_view later : later_properties(kVhlo, *name))
    if (form.attrs.has(later)) too_old(fmt::format("{} of {}", later, op.name()));
  Parts parts;
  parts.attributes = form.attrs;
  for (auto [packed, part] : kPacked)
    if (has_property(op.name(), part)) parts.attributes.erase(packed);
  for (const Property& p : properties_of(kVhlo, *name).value_or(std::vector<Property>{})) {
    parts.properties.varint(property(op, form, p.name));
    parts.has_properties = true;
    parts.attributes.erase(p.name);
  }
  for (const Value* v : op.operands) parts.operands.push_back(number(v, op.name()));
  finish(op, kVhlo, *name, parts, out);
}

/// In the builtin encoding, with casts of its operands before it and of its results after it.
void ModuleWriter::operation_beside(const Op& op, ByteWriter& out) {
  std::string_view dialect = dialect_of(op),
                   name = std::string_view(op.name()).substr(dialect.size() + 1);
  std::optional<std::vector<Property>> properties = properties_of(dialect, name);
  const GenericForm& form = forms_.of(op);
  Parts parts;
  parts.flavor = Flavor::builtin;
  parts.attributes = form.attrs;
  if (!properties && !form.attrs.empty())
    throw FormatError{Code::unsupported, 0,
                      fmt::format("operation {} has no form in bytecode", op.name())};
  for (const Property& p : properties.value_or(std::vector<Property>{})) {
    const Attr* a = form.attrs.find(p.name);
    if (a == nullptr && !p.is_optional)
      throw FormatError{Code::invalid, 0,
                        fmt::format("attribute '{}' of {} is absent", p.name, op.name())};
    std::size_t value = a == nullptr ? 0 : entries_.attribute(*a, Flavor::builtin);
    if (p.is_optional)
      parts.properties.flagged(value, a != nullptr);
    else
      parts.properties.varint(value);
    parts.has_properties = true;
    parts.attributes.erase(p.name);
  }
  for (const Value* v : op.operands)
    parts.operands.push_back(cast(number(v, op.name()), v->type(), Flavor::builtin, out));
  finish(op, dialect, name, parts, out);
  for (const Value* v : op.results()) numbers_[v] = cast(numbers_[v], v->type(), Flavor::vhlo, out);
}

// ---- attributes --------------------------------------------------------------------------------

std::size_t ModuleWriter::api_version(const Attr* attr) {
  std::string text = attr == nullptr ? "1" : attr_text(*attr, true);
  std::size_t digits = text.find_first_not_of("0123456789");
  std::uint64_t version =
      digits == 0 ? 1 : std::stoull(text.substr(0, std::min<std::size_t>(digits, 4)));
  ByteWriter out;
  constexpr std::uint64_t code = 5;
  out.varint(code);
  out.varint(version);
  return tables_.attribute(kVhlo, out.text());
}

/// The field of `#stablehlo.dot_algorithm<lhs_precision_type = tf32, ...>`, or the type none where
/// there is no algorithm.
std::size_t ModuleWriter::algorithm_field(const GenericForm& form, std::string_view name) {
  const Attr* a = form.attrs.find("algorithm");
  const Opaque* text = a == nullptr ? nullptr : std::get_if<Opaque>(a);
  if (text == nullptr) return entries_.none_type();
  std::size_t begin = text->text.find(fmt::format("{} = ", name));
  if (begin == std::string::npos)
    throw FormatError{Code::invalid, 0, fmt::format("{} has no {}", text->text, name)};
  begin += name.size() + 3;
  return entries_.attribute_of(
      text->text.substr(begin, text->text.find_first_of(",>", begin) - begin), Flavor::vhlo);
}

std::size_t ModuleWriter::property(const Op& op, const GenericForm& form, std::string_view name) {
  const AttributeRule* rule = rule_of(op.name(), name);
  Form how = rule == nullptr ? Form::same : rule->form;
  if (rule != nullptr && rule->otherwise == Default::none_type) return algorithm_field(form, name);
  const Attr *ours = op.attrs.find(name), *generic = form.attrs.find(name);
  if (how == Form::api_version) return api_version(generic);
  const Ints* list = ours == nullptr ? nullptr : std::get_if<Ints>(ours);
  if (how == Form::list && list != nullptr) return entries_.list(*list);
  if (how == Form::flags && list != nullptr) return entries_.flags(*list);
  const Attr* value = generic != nullptr ? generic : ours;
  if (value == nullptr) return default_of(op, name, rule);
  if (how == Form::flag) return entries_.attribute(!equal(*value, false), Flavor::vhlo);
  return entries_.attribute(*value, Flavor::vhlo);
}

std::size_t ModuleWriter::default_of(const Op& op, std::string_view name,
                                     const AttributeRule* rule) {
  std::size_t n = 0;
  for (const char* sizes : {"window_dimensions", "input_spatial_dimensions"})
    if (const Attr* a = op.attrs.find(sizes))
      if (const Ints* list = std::get_if<Ints>(a)) n = list->size();
  auto text = [&](std::string_view said) {
    return entries_.attribute_of(std::string(said), Flavor::vhlo);
  };
  bool is_typed_ffi =
      op.attrs.has("api_version") && attr_text(*op.attrs.find("api_version")) == "4 : i32";
  switch (rule == nullptr ? Default::none : rule->otherwise) {
    case Default::none: break;
    case Default::zero: return text(name == "version" ? "0 : i32" : "0 : i64");
    case Default::minus_one: return text("-1 : i64");
    case Default::no: return text("false");
    case Default::empty:
      return rule->form == Form::list
                 ? entries_.list({})
                 : text(name == "backend_config" && is_typed_ffi ? "{}" : rule->blank);
    case Default::said: return text(rule->blank);
    case Default::ones: return entries_.list(Ints(n, 1));
    case Default::nos: return entries_.flags(Ints(n, 0));
    case Default::zeros:
      return entries_.attribute(Literal(Type(DType::i64, {static_cast<std::int64_t>(n), 2})),
                                Flavor::vhlo);
    case Default::two_precisions:
      return text("[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]");
    case Default::no_type: return text("#stablehlo<comparison_type NOTYPE>");
    case Default::first_api: return api_version(nullptr);
    case Default::none_type: return entries_.none_type();
    case Default::accuracy: return entries_.default_accuracy();
  }
  throw FormatError{Code::invalid, 0,
                    fmt::format("attribute '{}' of {} is absent", name, op.name())};
}

// ---- modules -----------------------------------------------------------------------------------

void ModuleWriter::module(const Module& m, ByteWriter& out) {
  Parts parts;
  parts.flavor = Flavor::builtin;
  parts.attributes = text_attributes(m);
  parts.has_properties = true;
  parts.properties.flagged(m.name.empty() ? 0 : entries_.attribute(m.name, Flavor::builtin),
                           !m.name.empty());
  parts.properties.flagged(0, false);  // visibility
  parts.regions = 1;
  put("builtin", "module", parts, out);
  ByteWriter inside;
  std::vector<Mesh> all = meshes(m);
  inside.varint(1);
  inside.varint(0);
  inside.flagged(all.size() + m.functions.size() + m.modules.size(), false);
  for (const Mesh& one : all) mesh(one, inside);
  auto inner = m.modules.begin();
  for (std::size_t i = 0; i <= m.functions.size(); ++i) {
    for (; inner != m.modules.end() && ((*inner)->functions_before <= i || i == m.functions.size());
         ++inner)
      module(**inner, inside);
    if (i < m.functions.size()) function(*m.functions[i], inside);
  }
  out.section(Section::ir, inside.text());
}

void ModuleWriter::mesh(const Mesh& m, ByteWriter& out) {
  Parts parts;
  parts.flavor = Flavor::builtin;
  parts.has_properties = true;
  parts.properties.varint(entries_.attribute_of("#sdy.mesh" + m.text, Flavor::builtin));
  parts.properties.varint(entries_.attribute(m.name, Flavor::builtin));
  if (!m.attributes.empty()) {
    Cursor c(m.attributes);
    c.expect("{");
    parts.attributes = parse_attr_entries(c, {});
  }
  put("sdy", "mesh", parts, out);
}

void ModuleWriter::function(const Function& f, ByteWriter& out) {
  std::vector<Type> taken;
  std::vector<Attrs> argument_attributes;
  for (std::size_t i = 0; i < f.body.arguments().size(); ++i) {
    taken.push_back(f.body.arguments()[i]->type());
    argument_attributes.push_back(
        with_dims(taken.back(), i < f.arg_attrs.size() ? f.arg_attrs[i] : Attrs{}));
  }
  std::vector<Type> returned = result_types(f);
  std::vector<Attrs> result_attributes = f.result_attrs;
  result_attributes.resize(returned.size());
  Parts parts;
  parts.attributes = text_attributes(f);
  parts.has_properties = true;
  parts.properties.varint(entries_.dictionaries(argument_attributes));
  parts.properties.varint(entries_.function_type(taken, returned));
  parts.properties.varint(entries_.dictionaries(result_attributes));
  parts.properties.varint(entries_.attribute(f.name, Flavor::vhlo));
  parts.properties.varint(entries_.attribute(
      std::string(f.has_visibility || !f.is_public ? (f.is_public ? "public" : "private") : ""),
      Flavor::vhlo));
  parts.regions = 1;
  put(kVhlo, "func_v1", parts, out);
  if (is_declaration(f))
    out.varint(0);
  else
    region(f.body, nullptr, out);
}

}  // namespace
}  // namespace bytecode

Result<std::string> write_bytecode(const Module& module, const BytecodeOptions& options) {
  std::optional<bytecode::Release> release = bytecode::parse_release(options.release);
  if (!release || *release < bytecode::kOldestWritten || *release > bytecode::kNewestRelease)
    return Status(Code::invalid, "release '{}' of StableHLO is none from {}.{}.0 to {}.{}.0",
                  options.release, bytecode::kOldestWritten.major, bytecode::kOldestWritten.minor,
                  bytecode::kNewestRelease.major, bytecode::kNewestRelease.minor);
  try {
    return bytecode::ModuleWriter(*release).write(module);
  } catch (const bytecode::FormatError& e) {
    return Status(e.code, e.message);
  }
}

}  // namespace strata::ir
