#include "strata/ir/text/parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/dims_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr std::array<std::string_view, 4> kReturns = {"return", "func.return", "stablehlo.return",
                                                      "sdy.return"};

std::string place(std::string_view filename, std::string_view text, int first_line,
                  std::size_t offset) {
  std::string_view before = text.substr(0, std::min(offset, text.size()));
  std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", filename,
                     first_line + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

}  // namespace

/// Dialects that jaxlib's text may hold: an unknown operation of theirs is unsupported, any other
/// is a mistake.
bool TextParser::is_upstream(std::string_view name) {
  constexpr std::array<std::string_view, 19> dialects = {
      "stablehlo.", "chlo.",   "func.",   "check.",       "sdy.",  "mhlo.",    "shape.",
      "tensor.",    "arith.",  "vhlo.",   "interpreter.", "mpmd.", "builtin.", "cf.",
      "scf.",       "memref.", "linalg.", "quant.",       "math."};
  return std::any_of(dialects.begin(), dialects.end(),
                     [&](std::string_view d) { return name.substr(0, d.size()) == d; });
}

TextParser::TextParser(std::string_view text, std::string_view filename,
                       const ParseOptions& options)
    : Cursor(text, options.limits),
      registry_(options.registry != nullptr ? *options.registry : Registry::global()),
      filename_(Shared<std::string>::of(filename)),
      line_(static_cast<std::uint32_t>(options.first_line)) {
  set_types(&types_);
}

/// Places are asked for from the front to the back, but for the operations around a region.
Location TextParser::location(std::size_t offset) {
  std::string_view t = text();
  if (offset >= line_at_) {
    for (const char *p = t.data() + line_at_, *end = t.data() + offset;
         (p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)))) !=
         nullptr;) {
      ++line_;
      line_start_ = static_cast<std::size_t>(++p - t.data());
    }
    line_at_ = offset;
    return Location(filename_, line_, static_cast<std::uint32_t>(offset - line_start_ + 1));
  }
  std::string_view between = t.substr(offset, line_at_ - offset);
  std::size_t start = t.substr(0, offset).rfind('\n') + 1;
  auto lines = static_cast<std::uint32_t>(std::count(between.begin(), between.end(), '\n'));
  return Location(filename_, line_ - lines, static_cast<std::uint32_t>(offset - start + 1));
}

// ---- blocks ------------------------------------------------------------------------------------

/// Operations, a return, the closing brace.
void TextParser::block_until_brace(Block& block, bool takes_header) {
  if (takes_header && peek() == '^') block_header(block);
  while (peek() != '}') {
    if (at_end()) fail("expected '}}'");
    if (terminator(block)) {
      skip_location();
      if (peek() == '^')
        fail_at(offset(), "regions of several blocks are not supported", Code::unsupported);
      expect("}");
      return;
    }
    operation(block);
  }
  fail("a {} ends without a return", values_.level() > 1 ? "block" : "function");
}

void TextParser::block_header(Block& block) {
  expect("^");
  suffix("the name of a block");
  if (consume("(") && !consume(")")) {
    do {
      std::size_t where = offset();
      std::string_view name = value_name();
      expect(":");
      define(name, block.add_argument(parse_type(*this)), 1, where);
      skip_location();
    } while (consume(","));
    expect(")");
  }
  expect(":");
}

bool TextParser::terminator(Block& block) {
  bool quoted_name =
      consume("\"func.return\"") || consume("\"stablehlo.return\"") || consume("\"sdy.return\"");
  if (!quoted_name && std::none_of(kReturns.begin(), kReturns.end(),
                                   [&](std::string_view r) { return consume(r); }))
    return false;
  if (quoted_name) expect("(");
  block.results = operands();
  if (quoted_name) expect(")");
  Draft ignored;
  if (peek() == '{') attributes(ignored);
  std::vector<Type> types;
  if (consume(":")) {
    if (quoted_name) {
      types = parse_type_list(*this);
      expect("->");
      parse_type_list(*this);
    } else {
      do types.push_back(parse_type(*this));
      while (consume(","));
    }
  }
  if (!same_text(types, block.result_types()))
    fail("returned values are {}, but stated to be {}", type_list_text(block.result_types()),
         type_list_text(types));
  return true;
}

std::unique_ptr<Block> TextParser::region(const std::vector<Argument>& arguments) {
  auto block = std::make_unique<Block>();
  OpenScope scope(*this, false);
  for (const Argument& a : arguments) define(a.name, block->add_argument(a.type), 1, offset());
  expect("{");
  block_until_brace(*block, false);
  return block;
}

std::unique_ptr<Block> TextParser::region_with_arguments(bool isolated) {
  auto block = std::make_unique<Block>();
  OpenScope scope(*this, isolated);
  expect("{");
  block_until_brace(*block, true);
  return block;
}

// ---- values ------------------------------------------------------------------------------------

std::string_view TextParser::value_name() {
  if (peek() != '%') fail("expected a value");
  seek(offset() + 1);
  return suffix("the name of a value");
}

void TextParser::define(std::string_view name, Value* value, int count, std::size_t where) {
  if (!values_.define(name, value, count))
    fail_at(where, fmt::format("value %{} is defined twice", name));
}

Value* TextParser::operand() {
  std::size_t where = offset();
  std::string_view name = value_name();
  const ValueTable::Entry* found = values_.find(name);
  if (found == nullptr) fail_at(where, fmt::format("value %{} is not defined", name));
  std::int64_t index = 0;
  if (next_char() == '#') {
    expect("#");
    index = integer();
  }
  if (index < 0 || index >= static_cast<std::int64_t>(found->count))
    fail_at(where, fmt::format("value %{} has no result {}", name, index));
  return found->at(index);
}

Values TextParser::operands() {
  Values out;
  if (peek() != '%') return out;
  do out.push_back(operand());
  while (consume(","));
  return out;
}

// ---- operations --------------------------------------------------------------------------------

void TextParser::result_names(std::vector<ResultName>& out) {
  if (peek() != '%') return;
  do {
    ResultName r{value_name(), 1};
    if (consume(":")) {
      std::int64_t count = integer();
      if (count < 1 || count > 1 << 20) fail("a value of {} results", count);
      r.count = static_cast<int>(count);
    }
    out.push_back(r);
  } while (consume(","));
  expect("=");
}

const OpInfo& TextParser::info(std::string_view name, std::size_t where) {
  std::string_view full = name == "call" ? "func.call" : name;
  if (const OpInfo* found = registry_.find(full)) return *found;
  std::size_t end = std::min(text().find('\n', where), text().size());
  std::string_view line = text().substr(where, std::min<std::size_t>(end - where, 4000));
  std::size_t colon = line.rfind(" : ");
  std::string types =
      colon == std::string_view::npos || line.find("->", colon) == std::string_view::npos
          ? ""
          : " on " + std::string(line.substr(colon + 3, 200));
  if (!is_upstream(full)) fail_at(where, fmt::format("'{}' is no operation", full));
  fail_at(where, fmt::format("operation {} is not supported{}", full, types), Code::unsupported);
}

void TextParser::operation(Block& block) {
  std::size_t names_at = offset();
  std::vector<ResultName> names = std::exchange(names_, {});
  names.clear();
  result_names(names);
  std::size_t where = offset();
  Draft draft;
  bool is_generic = peek() == '"';
  std::string_view name = is_generic ? raw_string() : word("an operation");
  auto known = infos_.find(name);
  if (known == infos_.end()) known = infos_.emplace(name, &info(name, where)).first;
  draft.info = known->second;
  std::size_t enclosing = std::exchange(op_at_, where);
  if (is_generic)
    generic_form(draft);
  else
    short_form(draft);
  op_at_ = where;
  skip_location();
  if (draft.info->text != nullptr && draft.info->text->from_generic != nullptr)
    draft.info->text->from_generic(*this, draft);
  add_op(block, std::move(draft), names, names_at);
  op_at_ = enclosing;
  names_ = std::move(names);
}

void TextParser::add_op(Block& block, Draft draft, const std::vector<ResultName>& names,
                        std::size_t where) {
  std::size_t stated = 0;
  for (const ResultName& n : names) stated += static_cast<std::size_t>(n.count);
  if (stated != draft.results.size() && !names.empty())
    fail_at(where, fmt::format("{} has {} results, but {} are named", draft.info->name,
                               draft.results.size(), stated));
  auto made = std::make_unique<Op>(*draft.info, std::move(draft.operands),
                                   attrs_.shared(std::move(draft.attrs)), std::move(draft.regions),
                                   std::move(draft.results), location(op_at_));
  Op& op = *block.append(std::move(made));
  infer_dims(op);
  int next = 0;
  for (const ResultName& n : names) {
    define(n.name, op.result(next), n.count, where);
    next += n.count;
  }
}

void TextParser::short_form(Draft& draft) {
  const TextFormat* format = draft.info->text;
  if (format == nullptr || format->parse == nullptr)
    fail("{} is written in the generic form", draft.info->name);
  format->parse(*this, draft);
}

/// (%a, %b) <{...}> ({...}, {...}) {...} : (T, T) -> T
void TextParser::generic_form(Draft& draft) {
  expect("(");
  draft.operands = operands();
  expect(")");
  if (peek() == '[') fail_at(offset(), "successor blocks are not supported", Code::unsupported);
  if (consume("<")) {
    attributes(draft);
    expect(">");
  }
  if (consume("(")) {
    if (!consume(")")) {
      do draft.regions.push_back(region_with_arguments(draft.info->isolated));
      while (consume(","));
      expect(")");
    }
  }
  attributes(draft);
  functional_type(draft);
}

void TextParser::attributes(Draft& draft) {
  if (!consume("{")) return;
  std::size_t where = offset();
  for (const auto& [key, value] : parse_attr_entries(*this, aliases_)) {
    if (draft.attrs.has(key)) fail_at(where, fmt::format("attribute '{}' twice", key));
    draft.attrs.set(key, value);
  }
}

Ints TextParser::ints() {
  Ints out;
  expect("[");
  if (consume("]")) return out;
  do out.push_back(integer());
  while (consume(","));
  expect("]");
  return out;
}

void TextParser::operand_types(const Draft& draft, const std::vector<Type>& stated,
                               std::size_t where) {
  if (stated.size() != draft.operands.size())
    fail_at(where, fmt::format("{} has {} operands, but {} types are given", draft.info->name,
                               draft.operands.size(), stated.size()));
  for (std::size_t i = 0; i < stated.size(); ++i)
    if (!same_text(draft.operands[i]->type(), stated[i]))
      fail_at(where, fmt::format("operand {} of {} is {}, but stated to be {}", i, draft.info->name,
                                 draft.operands[i]->type().to_string(), stated[i].to_string()));
}

void TextParser::functional_type(Draft& draft) {
  expect(":");
  std::size_t where = offset();
  operand_types(draft, parse_type_list(*this), where);
  expect("->");
  draft.results = parse_result_types(*this);
}

void TextParser::same_or_functional_type(Draft& draft) {
  std::size_t colon = offset();
  expect(":");
  if (peek() == '(') {
    seek(colon);
    return functional_type(draft);
  }
  std::size_t where = offset();
  Type type = parse_type(*this);
  operand_types(draft, std::vector<Type>(draft.operands.size(), type), where);
  draft.results = {type};
}

namespace {

/// Whether a line stands between two programs.
bool separates(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size())).starts_with("// -----");
}

}  // namespace

std::vector<TextPart> split_parts(std::string_view text) {
  std::vector<TextPart> out{{text, 1}};
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    if (separates(text.substr(at, end - at))) {
      std::size_t begin = static_cast<std::size_t>(out.back().text.data() - text.data());
      out.back().text = text.substr(begin, at - begin);
      out.push_back({text.substr(std::min(end + 1, text.size())), line + 1});
    }
    at = end + 1;
    ++line;
  }
  return out;
}

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view filename,
                                      const ParseOptions& options) {
  TextParser parser(text, filename, options);
  try {
    return parser.module();
  } catch (const SyntaxError& e) {
    return Status(e.code, "{}: {}", place(filename, text, options.first_line, e.offset), e.message);
  } catch (const Error& e) {
    return Status(Code::invalid, "{}: {}",
                  place(filename, text, options.first_line, parser.op_offset()), e.what());
  }
}

}  // namespace strata::ir
