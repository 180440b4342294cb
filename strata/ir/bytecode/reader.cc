#include "strata/ir/bytecode/reader.h"

#include <algorithm>
#include <unordered_set>

#include "strata/base/error.h"
#include "strata/ir/bytecode/entries.h"
#include "strata/ir/bytecode/schema.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/attrs_cache.h"
#include "strata/ir/text/dims_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace bytecode {
namespace {

/// What an operation has, by bits of a byte.
enum Mask : std::uint8_t {
  kAttributes = 1,
  kResults = 2,
  kOperands = 4,
  kSuccessors = 8,
  kRegions = 16,
  kUseOrders = 32,
  kProperties = 64
};

/// An operation up to its regions. Attributes by their numbers.
struct Head {
  const OperationName* name = nullptr;
  std::size_t offset = 0, regions = 0;
  Location where;
  Entries::Named attributes;
  std::vector<Type> results;
  Values operands;
  bool is_isolated = false;
};

class ModuleReader {
 public:
  ModuleReader(const Container& container, std::string_view filename, const ParseOptions& options)
      : container_(container),
        entries_(container, options.limits),
        formats_("", filename, options),
        limits_(options.limits) {}

  std::unique_ptr<Module> read() {
    ByteReader r = container_.ir;
    auto [operations, has_arguments] = r.flagged("the number of operations");
    if (operations != 1 || has_arguments)
      r.fail("expected one module, found {} operations", operations);
    Head head = operation_head(r, nullptr);
    if (!is(head, "builtin.module")) r.fail("expected a module, found {}", full_name(head));
    auto out = std::make_unique<Module>();
    module(r, head, *out);
    r.expect_end("the module");
    return out;
  }

 private:
  /// Values by their numbers, in a region that sees nothing around it and in those inside. A number
  /// is given before its value.
  struct Scope {
    std::vector<Value*> values;
  };
  /// The numbers of one region.
  struct Numbers {
    std::size_t next = 0, end = 0;
  };
  /// A region, or the section that holds it.
  class Nesting {
   public:
    Nesting(ModuleReader& m, const ByteReader& r, bool is_isolated)
        : m_(m), is_isolated_(is_isolated) {
      if (m_.depth_ >= m_.limits_.depth)
        r.fail("nested more than {} levels deep", m_.limits_.depth);
      ++m_.depth_;
      if (is_isolated_) m_.scopes_.emplace_back();
    }
    ~Nesting() {
      --m_.depth_;
      if (is_isolated_) m_.scopes_.pop_back();
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ModuleReader& m_;
    bool is_isolated_;
  };

  static std::string full_name(const Head& h) {
    return fmt::format("{}.{}", h.name->dialect, h.name->name);
  }
  static bool is(const Head& h, std::string_view name) { return full_name(h) == name; }
  bool is_return(const Head& h) const {
    for (std::string_view name : {"vhlo.return_v1", "sdy.return"})
      if (is(h, name)) return true;
    return false;
  }

  // ---- operations ------------------------------------------------------------------------------

  Head operation_head(ByteReader& r, Numbers* numbers);
  static std::vector<Property> names_of(const Head& head);
  void read_properties(ByteReader& r, Head& head);
  void expect_all(const Head& head);
  void skip_use_orders(ByteReader& r, std::size_t values);
  void operation(ByteReader& r, Numbers& numbers, Block& block, bool& has_returned);
  void cast(const Head& head, std::size_t first);
  void add_op(Block& block, Draft draft, const Head& head, std::size_t first);
  const OpInfo& info(const Head& head, const std::string& name);
  Attrs values(const Head& head);

  // ---- regions, functions, modules -------------------------------------------------------------

  ByteReader region_bytes(ByteReader& r, const Head& head);
  template <class F>
  void region(ByteReader& r, Block& block, F&& each);
  void block_arguments(ByteReader& r, Block& block, Numbers& numbers);
  void region_of_operations(ByteReader& r, Block& block);
  void define(Value* value, std::size_t number) { scopes_.back().values[number] = value; }

  void module(ByteReader& r, const Head& head, Module& out);
  void module_item(ByteReader& r, Module& out, std::unordered_set<std::string>& symbols);
  void function(ByteReader& r, const Head& head, Module& out,
                std::unordered_set<std::string>& symbols);
  void mesh(const Head& head, Module& out);
  std::vector<Attrs> list_of_attributes(const Head& head, std::size_t attribute, std::size_t count);
  void new_symbol(const Head& head, const std::string& name,
                  std::unordered_set<std::string>& symbols) {
    if (!symbols.insert(name).second) fail(head, fmt::format("@{} twice", name));
  }

  [[noreturn]] static void fail(const Head& head, std::string message, Code code = Code::invalid) {
    throw FormatError{code, head.offset, std::move(message)};
  }

  const Container& container_;
  Entries entries_;
  TextParser formats_;  // what formats ask: the registry, limits, and where to say what is wrong
  TextLimits limits_;
  AttrsCache attrs_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
};

Head ModuleReader::operation_head(ByteReader& r, Numbers* numbers) {
  Head out;
  out.offset = r.offset();
  out.name = &container_.operations[r.index(container_.operations.size(), "operation")];
  std::uint8_t mask = r.byte("what the operation has");
  if ((mask & 0x80) != 0) r.fail("an operation with parts {:#x}", mask);
  out.where = entries_.location(entries_.attribute(r));
  if ((mask & kAttributes) != 0) out.attributes = entries_.dictionary(entries_.attribute(r));
  if ((mask & kProperties) != 0) read_properties(r, out);
  if ((mask & kProperties) == 0 || !out.name->is_registered) expect_all(out);
  if ((mask & kResults) != 0)
    for (std::size_t n = r.count("results"); n > 0; --n)
      out.results.push_back(entries_.value_type(entries_.type(r)));
  if ((mask & kOperands) != 0) {
    if (scopes_.empty()) r.fail("operands outside of a module");
    for (std::size_t n = r.count("operands"); n > 0; --n) {
      const std::vector<Value*>& values = scopes_.back().values;
      std::size_t number = r.index(values.size(), "value");
      if (values[number] == nullptr)
        fail(out,
             fmt::format("{} uses value {}, which is not defined before", full_name(out), number));
      out.operands.push_back(values[number]);
    }
  }
  if ((mask & kSuccessors) != 0) fail(out, "successor blocks are not supported", Code::unsupported);
  if ((mask & kUseOrders) != 0 && container_.format >= 3) skip_use_orders(r, out.results.size());
  if ((mask & kRegions) != 0) {
    auto [count, is_isolated] = r.flagged("the number of regions");
    if (count > r.remaining()) r.fail("{} regions in {} bytes", count, r.remaining());
    out.regions = count;
    out.is_isolated = is_isolated;
  }
  if (numbers != nullptr && out.results.size() > numbers->end - numbers->next)
    fail(out, "more values than the region states");
  return out;
}

/// Of an operation in a version that there is.
std::vector<Property> ModuleReader::names_of(const Head& head) {
  std::optional<std::vector<Property>> names = properties_of(head.name->dialect, head.name->name);
  if (!names)
    fail(head, fmt::format("operation {} is not supported", full_name(head)), Code::unsupported);
  return *std::move(names);
}

/// Attributes without names, in their order; of an operation that its writer did not know, a
/// dictionary.
void ModuleReader::read_properties(ByteReader& r, Head& head) {
  ByteReader p = container_.properties[r.index(container_.properties.size(), "properties")];
  if (!head.name->is_registered) {
    for (auto& entry : entries_.dictionary(entries_.attribute(p)))
      head.attributes.push_back(std::move(entry));
    return p.expect_end("properties");
  }
  for (const Property& property : names_of(head)) {
    if (std::optional<std::size_t> at =
            property.is_optional ? entries_.optional_attribute(p) : entries_.attribute(p))
      head.attributes.emplace_back(property.name, *at);
  }
  p.expect_end("properties");
}

/// A version of an operation has all of its attributes: for one that is absent no default may
/// stand.
void ModuleReader::expect_all(const Head& head) {
  if (head.name->dialect != "vhlo") return;
  for (const Property& property : names_of(head)) {
    auto same = [&](const auto& entry) { return entry.first == property.name; };
    if (std::none_of(head.attributes.begin(), head.attributes.end(), same))
      fail(head, fmt::format("{} without attribute '{}'", full_name(head), property.name));
  }
}

void ModuleReader::skip_use_orders(ByteReader& r, std::size_t values) {
  for (std::size_t n = values > 1 ? r.count("orders of uses") : 1; n > 0; --n) {
    if (values > 1) r.varint("a value");
    std::uint64_t size = r.flagged("the number of uses").first;
    if (size > r.remaining()) r.fail("{} uses in {} bytes", size, r.remaining());
    for (; size > 0; --size) r.varint("a use");
  }
}

const OpInfo& ModuleReader::info(const Head& head, const std::string& name) {
  if (const OpInfo* found = formats_.registry().find(name)) return *found;
  std::vector<Type> operands;
  for (const Value* v : head.operands) operands.push_back(v->type());
  fail(head,
       fmt::format("operation {} is not supported on {} -> {}", name, type_list_text(operands),
                   result_types_text(head.results)),
       Code::unsupported);
}

Attrs ModuleReader::values(const Head& head) {
  Attrs out;
  for (const auto& [name, at] : head.attributes) {
    if (out.has(name)) fail(head, fmt::format("attribute '{}' twice", name));
    out.set(name, entries_.value(at));
  }
  return out;
}

/// Between a type of VHLO and the builtin one: the value itself.
void ModuleReader::cast(const Head& head, std::size_t first) {
  if (head.operands.size() != head.results.size())
    fail(head, fmt::format("a cast of {} values to {}", head.operands.size(), head.results.size()));
  for (std::size_t i = 0; i < head.operands.size(); ++i) {
    if (head.operands[i]->type() != head.results[i])
      fail(head,
           fmt::format("a cast of {} to {} is not supported", head.operands[i]->type().to_string(),
                       head.results[i].to_string()),
           Code::unsupported);
    define(head.operands[i], first + i);
  }
}

void ModuleReader::add_op(Block& block, Draft draft, const Head& head, std::size_t first) {
  const TextFormat* format = draft.info->text;
  try {
    if (head.name->dialect == "vhlo") from_vhlo(draft.info->name, draft.attrs);
    if (format != nullptr && format->from_generic != nullptr) format->from_generic(formats_, draft);
  } catch (const SyntaxError& e) {
    fail(head, e.message, e.code);
  } catch (const Error& e) {
    fail(head, e.what());
  }
  auto made = std::make_unique<Op>(*draft.info, std::move(draft.operands),
                                   attrs_.shared(std::move(draft.attrs)), std::move(draft.regions),
                                   std::move(draft.results), head.where);
  Op& op = *block.append(std::move(made));
  infer_dims(op);
  for (int i = 0; i < op.num_results(); ++i)
    define(op.result(i), first + static_cast<std::size_t>(i));
}

void ModuleReader::operation(ByteReader& r, Numbers& numbers, Block& block, bool& has_returned) {
  Head head = operation_head(r, &numbers);
  if (has_returned) fail(head, "an operation after the return");
  std::size_t first = numbers.next;
  numbers.next += head.results.size();
  if (is_return(head)) {
    block.results = std::move(head.operands);
    has_returned = true;
    return;
  }
  if (is(head, "builtin.unrealized_conversion_cast")) return cast(head, first);
  Draft draft;
  draft.info = &info(head, operation_of(head.name->dialect, head.name->name));
  draft.attrs = values(head);
  for (std::size_t i = 0; i < head.regions; ++i) draft.regions.push_back(std::make_unique<Block>());
  if (head.regions > 0) {
    Nesting nesting(*this, r, head.is_isolated);
    ByteReader own = region_bytes(r, head);
    ByteReader& inside = head.is_isolated && container_.format >= 2 ? own : r;
    for (auto& region : draft.regions) region_of_operations(inside, *region);
    if (&inside == &own) own.expect_end("the regions of an operation");
  }
  draft.operands = std::move(head.operands);
  draft.results = std::move(head.results);
  add_op(block, std::move(draft), head, first);
}

// ---- regions -----------------------------------------------------------------------------------

/// Regions that see nothing around them are a section, from version 2 on.
ByteReader ModuleReader::region_bytes(ByteReader& r, const Head& head) {
  if (!head.is_isolated || container_.format < 2) return {};
  auto [id, data] = r.section();
  if (id != Section::ir) fail(head, "expected the section of a region");
  return data;
}

/// One block: its arguments, then `each` reads one operation.
template <class F>
void ModuleReader::region(ByteReader& r, Block& block, F&& each) {
  std::uint64_t blocks = r.varint("the number of blocks");
  if (blocks == 0) return;
  if (blocks > 1) r.unsupported("regions of several blocks are not supported");
  std::size_t values = r.count("values");
  std::vector<Value*>& scope = scopes_.back().values;
  Numbers numbers{scope.size(), scope.size() + values};
  scope.resize(numbers.end);
  auto [operations, has_arguments] = r.flagged("the number of operations");
  if (operations > r.remaining()) r.fail("{} operations in {} bytes", operations, r.remaining());
  if (has_arguments) block_arguments(r, block, numbers);
  for (std::uint64_t n = operations; n > 0; --n) each(numbers);
  scopes_.back().values.resize(numbers.end - values);
}

void ModuleReader::block_arguments(ByteReader& r, Block& block, Numbers& numbers) {
  std::size_t count = r.count("arguments");
  if (count > numbers.end - numbers.next) r.fail("more values than the region states");
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t start = r.offset();
    auto [type, has_location] = container_.format >= 4
                                    ? r.flagged("the type of an argument")
                                    : std::pair(r.varint("the type of an argument"), true);
    if (type >= container_.types.size())
      throw FormatError{Code::invalid, start,
                        fmt::format("type {} of {}", type, container_.types.size())};
    if (has_location) entries_.attribute(r);
    define(block.add_argument(entries_.value_type(type)), numbers.next++);
  }
  if (container_.format >= 3 && r.byte("whether there are orders of uses") != 0)
    skip_use_orders(r, count);
}

void ModuleReader::region_of_operations(ByteReader& r, Block& block) {
  bool has_returned = false;
  region(r, block, [&](Numbers& numbers) { operation(r, numbers, block, has_returned); });
  if (!has_returned) r.fail("a region ends without a return");
}

// ---- modules -----------------------------------------------------------------------------------

void ModuleReader::module(ByteReader& r, const Head& head, Module& out) {
  if (head.regions != 1) fail(head, fmt::format("a module of {} regions", head.regions));
  for (const auto& [name, at] : head.attributes) {
    if (name == "sym_name")
      out.name = entries_.text(at);
    else
      out.attrs.set(name, entries_.value(at));
  }
  Nesting nesting(*this, r, true);
  ByteReader own = region_bytes(r, head);
  ByteReader& inside = head.is_isolated && container_.format >= 2 ? own : r;
  Block none;
  std::unordered_set<std::string> symbols;
  region(inside, none, [&](Numbers&) { module_item(inside, out, symbols); });
  if (none.num_arguments() > 0) fail(head, "a module with arguments");
  if (&inside == &own) own.expect_end("a module");
}

void ModuleReader::module_item(ByteReader& r, Module& out,
                               std::unordered_set<std::string>& symbols) {
  Head head = operation_head(r, nullptr);
  if (!head.results.empty() || !head.operands.empty())
    fail(head, fmt::format("{} in a module", full_name(head)));
  if (is(head, "vhlo.func_v1")) return function(r, head, out, symbols);
  if (is(head, "sdy.mesh")) return mesh(head, out);
  if (!is(head, "builtin.module"))
    fail(head, fmt::format("operation {} is not supported in a module", full_name(head)),
         Code::unsupported);
  out.modules.push_back(std::make_unique<Module>());
  Module& inner = *out.modules.back();
  inner.functions_before = out.functions.size();
  module(r, head, inner);
  if (!inner.name.empty()) new_symbol(head, inner.name, symbols);
}

std::vector<Attrs> ModuleReader::list_of_attributes(const Head& head, std::size_t attribute,
                                                    std::size_t count) {
  std::vector<Attrs> out;
  for (std::size_t at : entries_.elements(attribute)) out.push_back(entries_.dictionary_values(at));
  if (!out.empty() && out.size() != count)
    fail(head, fmt::format("{} attributes for {} values", out.size(), count));
  out.resize(count);
  return out;
}

void ModuleReader::function(ByteReader& r, const Head& head, Module& out,
                            std::unordered_set<std::string>& symbols) {
  auto find = [&](std::string_view name) -> std::size_t {
    for (const auto& [key, at] : head.attributes)
      if (key == name) return at;
    fail(head, fmt::format("a function without {}", name));
  };
  if (head.regions != 1) fail(head, fmt::format("a function of {} regions", head.regions));
  out.functions.push_back(std::make_unique<Function>(entries_.text(find("sym_name"))));
  Function& f = *out.functions.back();
  new_symbol(head, f.name, symbols);
  const std::string& visibility = entries_.text(find("sym_visibility"));
  if (!visibility.empty() && visibility != "public" && visibility != "private")
    fail(head, fmt::format("visibility '{}' is not supported", visibility), Code::unsupported);
  f.has_visibility = !visibility.empty();
  f.is_public = visibility != "private";
  FunctionType type = entries_.function_type(find("function_type"));
  std::vector<Attrs> arguments = list_of_attributes(head, find("arg_attrs"), type.taken.size());
  f.result_attrs = list_of_attributes(head, find("res_attrs"), type.returned.size());
  for (const auto& [name, at] : head.attributes) {
    constexpr std::string_view own[] = {"arg_attrs", "function_type", "res_attrs", "sym_name",
                                        "sym_visibility"};
    if (std::find(std::begin(own), std::end(own), name) == std::end(own))
      f.attrs.set(name, entries_.value(at));
  }
  Nesting nesting(*this, r, head.is_isolated);
  ByteReader section = region_bytes(r, head);
  ByteReader& inside = head.is_isolated && container_.format >= 2 ? section : r;
  bool has_returned = false;
  ByteReader start = inside;
  bool is_empty = start.varint("the number of blocks") == 0;
  std::vector<Attrs>* attrs = &arguments;
  auto name_arguments = [&] {  // before the body: its results take the names of dimensions
    if (attrs == nullptr) return;
    attrs = nullptr;
    std::vector<Type> taken;
    for (const Value* v : f.body.argument_values()) taken.push_back(v->type());
    if (taken != type.taken)
      fail(head, fmt::format("function @{} takes {}, but its type says {}", f.name,
                             type_list_text(taken), type_list_text(type.taken)));
    for (std::size_t i = 0; i < arguments.size(); ++i)
      take_dims(*f.body.argument(static_cast<int>(i)), arguments[i]);
  };
  region(inside, f.body, [&](Numbers& numbers) {
    name_arguments();
    operation(inside, numbers, f.body, has_returned);
  });
  if (&inside == &section) section.expect_end("a function");
  if (is_empty)
    for (const Type& t : type.taken) f.body.add_argument(t);
  name_arguments();
  f.arg_attrs = std::move(arguments);
  if (is_empty) return declare(f, type.returned);
  if (!has_returned) fail(head, fmt::format("function @{} ends without a return", f.name));
  if (!same_text(f.body.result_types(), type.returned))
    fail(head,
         fmt::format("function @{} returns {}, but is declared to return {}", f.name,
                     result_types_text(f.body.result_types()), result_types_text(type.returned)));
}

/// sdy.mesh @name = <["x"=2]> {attributes}
void ModuleReader::mesh(const Head& head, Module& out) {
  constexpr std::string_view prefix = "#sdy.mesh";
  Attrs attrs = values(head);
  const Attr *name = attrs.find("sym_name"), *value = attrs.find("mesh");
  const std::string* word = name == nullptr ? nullptr : std::get_if<std::string>(name);
  const Opaque* text = value == nullptr ? nullptr : std::get_if<Opaque>(value);
  if (word == nullptr || text == nullptr || text->text.substr(0, prefix.size()) != prefix ||
      head.regions != 0)
    fail(head, "sdy.mesh requires sym_name and mesh");
  Mesh mesh{*word, text->text.substr(prefix.size()), ""};
  for (const Mesh& m : meshes(out))
    if (m.name == mesh.name) fail(head, fmt::format("mesh @{} twice", mesh.name));
  for (const char* own : {"sym_name", "mesh"}) attrs.erase(own);
  if (!attrs.empty()) mesh.attributes = attrs_text(attrs);
  add_mesh(out, std::move(mesh));
}

}  // namespace
}  // namespace bytecode

bool is_bytecode(std::string_view bytes) {
  return bytes.substr(0, bytecode::kMagic.size()) == bytecode::kMagic;
}

Result<std::unique_ptr<Module>> read_bytecode(std::string_view bytes, std::string_view filename,
                                              const ParseOptions& options) {
  try {
    bytecode::Container container = bytecode::open_container(bytes);
    return bytecode::ModuleReader(container, filename, options).read();
  } catch (const bytecode::FormatError& e) {
    return Status(e.code, "{}: byte {}: {}", filename, e.offset, e.message);
  }
}

}  // namespace strata::ir
