// Windows that slide: convolution has a short form; the others the generic form with their padding
// packed.
#include <fmt/format.h>

#include <array>

#include "strata/ir/text/combiner_text.h"
#include "strata/ir/text/format_help.h"

namespace strata::ir {
namespace {

// ---- dimension numbers: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] --------------------------------

/// One of the three lists: two letters and where their numbers are kept, and the list of spatial
/// dimensions.
struct Side {
  char first, second;
  const char *first_name, *second_name, *spatial;
};
constexpr std::array<Side, 3> kSides = {{
    {'b', 'f', "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
    {'i', 'o', "kernel_input_feature_dimension", "kernel_output_feature_dimension",
     "kernel_spatial_dimensions"},
    {'b', 'f', "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"},
}};
constexpr std::array<std::string_view, 3> kBetween = {"", "x", "->"};
constexpr char kNumbers[] = "dimension_numbers", kPrefix[] = "#stablehlo.conv";

/// Names by position; a dimension that no number or two numbers claim shows as '?', which does not
/// read back.
std::string side_text(const Op& op, const Side& side) {
  const Ints& spatial = op.attr<Ints>(side.spatial);
  std::vector<std::string> names(spatial.size() + 2, "?");
  auto set = [&](std::int64_t at, std::string name) {
    if (at >= 0 && at < static_cast<std::int64_t>(names.size()))
      names[static_cast<std::size_t>(at)] = std::move(name);
  };
  set(op.attr<std::int64_t>(side.first_name), std::string(1, side.first));
  set(op.attr<std::int64_t>(side.second_name), std::string(1, side.second));
  for (std::size_t i = 0; i < spatial.size(); ++i) set(spatial[i], fmt::format("{}", i));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string numbers_text(const Op& op) {
  std::string out;
  for (std::size_t i = 0; i < kSides.size(); ++i)
    out += std::string(kBetween[i]) + side_text(op, kSides[i]);
  return out;
}

void parse_side(Cursor& c, Attrs& attrs, const Side& side) {
  std::int64_t first = -1, second = -1, at = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> spatial;  // (its number, where)
  c.expect("[");
  do {
    if (char p = c.peek(); p >= '0' && p <= '9') {
      spatial.emplace_back(c.integer(), at);
    } else if (c.consume("?")) {
      // upstream's spelling of a dimension that has no name
    } else {
      std::string_view word = c.word("a dimension");
      std::int64_t& which = word == std::string_view(&side.first, 1) ? first : second;
      if (word.size() != 1 || (word[0] != side.first && word[0] != side.second))
        c.fail("dimension '{}' is none of {} {} and numbers", word, side.first, side.second);
      if (which >= 0) c.fail("dimension '{}' twice", word);
      which = at;
    }
    ++at;
  } while (c.consume(","));
  c.expect("]");
  if (first < 0 || second < 0)
    c.fail("dimension numbers lack '{}'", first < 0 ? side.first : side.second);
  Ints dims(spatial.size(), -1);
  for (auto [number, where] : spatial) {
    if (number >= static_cast<std::int64_t>(dims.size()) ||
        dims[static_cast<std::size_t>(number)] >= 0)
      c.fail("spatial dimension {} is out of order", number);
    dims[static_cast<std::size_t>(number)] = where;
  }
  attrs.set(side.first_name, first)
      .set(side.second_name, second)
      .set(side.spatial, std::move(dims));
}

void parse_numbers(Cursor& c, Attrs& attrs) {
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    if (i == 1) {  // "x[": a word of its own only where a letter follows
      if (c.peek() != 'x') c.fail("expected 'x'");
      c.seek(c.offset() + 1);
    }
    if (i == 2) c.expect("->");
    parse_side(c, attrs, kSides[i]);
  }
}

/// `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, or with each number named.
void numbers_from_generic(TextParser& p, Draft& draft) {
  if (!draft.attrs.has(kNumbers)) {
    for (const Side& side : kSides) {
      need_integer(p, draft, side.first_name);
      need_integer(p, draft, side.second_name);
      need_ints(p, draft, side.spatial);
    }
    return;
  }
  const std::string text = p.need<Opaque>(draft, kNumbers, kPrefix).text;
  Cursor c(text);
  try {
    c.expect(kPrefix);
    c.expect("<");
    if (c.peek() == '[') {
      Attrs found;
      parse_numbers(c, found);
      c.expect(">");
      for (const auto& [name, value] : found) draft.attrs.set(name, value);
    } else {
      Fields fields = struct_fields(p, draft, kNumbers, kPrefix);
      for (const Side& side : kSides) {
        for (const char* name : {side.first_name, side.second_name}) {
          if (fields[name].size() != 1) c.fail("field '{}' is no number", name);
          draft.attrs.set(name, fields[name][0]);
        }
        draft.attrs.set(side.spatial, fields[side.spatial]);
      }
    }
  } catch (const SyntaxError& e) {
    p.fail_at(p.op_offset(),
              fmt::format("attribute '{}' of {}: {}", kNumbers, draft.info->name, e.message));
  }
  draft.attrs.erase(kNumbers);
}

// ---- the window: {stride = [2], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [0

constexpr char kReversal[] = "window_reversal";
struct WindowList {
  const char *word, *attribute;
};
constexpr std::array<WindowList, 5> kWindow = {{{"stride", "window_strides"},
                                                {"pad", "padding"},
                                                {"lhs_dilate", "lhs_dilation"},
                                                {"rhs_dilate", "rhs_dilation"},
                                                {"reverse", kReversal}}};

std::string window_text(const Op& op) {
  std::string out;
  for (const WindowList& l : kWindow) {
    if (!op.attrs.has(l.attribute)) continue;
    const Ints& values = op.attr<Ints>(l.attribute);
    std::string text = TextPrinter::list(values);
    if (l.attribute == kWindow[1].attribute) {
      text.clear();
      for (std::size_t i = 0; i + 1 < values.size(); i += 2)
        text += fmt::format("{}[{}, {}]", i > 0 ? ", " : "", values[i], values[i + 1]);
      text = "[" + text + "]";
    }
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", l.word, text);
  }
  return out;
}

Ints parse_pad(TextParser& p) {
  Ints out;
  p.expect("[");
  if (p.consume("]")) return out;
  do {
    std::size_t where = p.offset();
    Ints pair = p.ints();
    if (pair.size() != 2)
      p.fail_at(where, fmt::format("padding of {} numbers for one dimension", pair.size()));
    out.insert(out.end(), pair.begin(), pair.end());
  } while (p.consume(","));
  p.expect("]");
  return out;
}

/// Numbers, or truth values.
Ints parse_reverse(TextParser& p) {
  Ints out;
  p.expect("[");
  if (p.consume("]")) return out;
  do out.push_back(p.consume("true") ? 1 : p.consume("false") ? 0 : p.integer() != 0 ? 1 : 0);
  while (p.consume(","));
  p.expect("]");
  return out;
}

void parse_window(TextParser& p, Draft& draft) {
  p.expect("{");
  while (!p.consume("}")) {
    std::size_t where = p.offset();
    std::string_view word = p.word("a list of the window");
    auto list = std::find_if(kWindow.begin(), kWindow.end(),
                             [&](const WindowList& l) { return l.word == word; });
    if (list == kWindow.end())
      p.fail_at(where,
                fmt::format("'{}' is none of stride pad lhs_dilate rhs_dilate reverse", word));
    if (draft.attrs.has(list->attribute)) p.fail_at(where, fmt::format("'{}' twice", word));
    p.expect("=");
    draft.attrs.set(list->attribute, word == "pad"       ? parse_pad(p)
                                     : word == "reverse" ? parse_reverse(p)
                                                         : p.ints());
    if (p.consume(",")) continue;
    p.expect("}");
    break;
  }
}

/// `array<i1: true, false>` is kept as numbers.
void reversal_from_generic(TextParser& p, Draft& draft) {
  const Attr* a = draft.attrs.find(kReversal);
  if (a == nullptr || std::holds_alternative<Ints>(*a)) return;
  Ints values;
  const std::string text = p.need<Opaque>(draft, kReversal, "list of truth values").text;
  Cursor c(text);
  bool good = c.consume("array") && c.consume("<") && c.consume("i1");
  if (good && c.consume(":")) {
    do {
      values.push_back(c.consume("true") ? 1 : 0);
      good = values.back() == 1 || c.consume("false");
    } while (good && c.consume(","));
  }
  if (!good || !c.consume(">") || !c.at_end())
    p.fail_at(p.op_offset(),
              fmt::format("attribute '{}' of {} is {}", kReversal, draft.info->name, text));
  draft.attrs.set(kReversal, values);
}

// ---- convolution -------------------------------------------------------------------------------

void print_convolution(TextPrinter& p, const Op& op) {
  p << "(";
  p.operands(op);
  p << ") dim_numbers = " << numbers_text(op) << ", window = {" << window_text(op) << "}";
  Attrs rest = op.attrs;
  for (const Side& side : kSides)
    for (const char* name : {side.first_name, side.second_name, side.spatial}) rest.erase(name);
  for (const WindowList& l : kWindow) rest.erase(l.attribute);
  precision_to_generic(rest);
  if (!rest.empty()) p << " " << attrs_text(rest);
  p.functional_type(op);
}
void parse_convolution(TextParser& p, Draft& draft) {
  p.expect("(");
  draft.operands = p.operands();
  p.expect(")");
  p.expect("dim_numbers");
  p.expect("=");
  parse_numbers(p, draft.attrs);
  p.expect(",");
  p.expect("window");
  p.expect("=");
  parse_window(p, draft);
  p.attributes(draft);
  p.functional_type(draft);
}
void convolution_from_generic(TextParser& p, Draft& draft) {
  numbers_from_generic(p, draft);
  padding_from_generic(p, draft);
  reversal_from_generic(p, draft);
  precision_from_generic(p, draft);
  for (const WindowList& l : kWindow)
    if (draft.attrs.has(l.attribute)) need_ints(p, draft, l.attribute);
  for (const char* name : {"feature_group_count", "batch_group_count"})
    if (draft.attrs.has(name)) need_integer(p, draft, name);
}
GenericForm convolution_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  for (const Side& side : kSides)
    for (const char* name : {side.first_name, side.second_name, side.spatial})
      out.attrs.erase(name);
  out.attrs.set(kNumbers, Opaque{fmt::format("{}<{}>", kPrefix, numbers_text(op))});
  padding_to_generic(out.attrs);
  precision_to_generic(out.attrs);
  if (op.attrs.has(kReversal)) {
    std::string values;
    for (std::int64_t v : op.attr<Ints>(kReversal))
      values += fmt::format("{}{}", values.empty() ? ": " : ", ", v != 0 ? "true" : "false");
    out.attrs.set(kReversal, Opaque{"array<i1" + values + ">"});
  }
  return out;
}

// ---- reduce_window, select_and_scatter ---------------------------------------------------------

void window_lists(TextParser& p, Draft& draft) {
  need_ints(p, draft, "window_dimensions");
  for (const char* name : {"window_strides", "base_dilations", "window_dilations"})
    if (draft.attrs.has(name)) need_ints(p, draft, name);
  padding_from_generic(p, draft);
}

void reduce_window_from_generic(TextParser& p, Draft& draft) {
  window_lists(p, draft);
  combiner_from_generic(p, draft, draft.operands.size() == 2);
}
GenericForm reduce_window_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  padding_to_generic(out.attrs);
  combiner_to_generic(out, op);
  return out;
}

/// "GE" for a region that compares its two scalar arguments in order, by the rules that go with
/// their type.
std::string recognise_select(const Block& region, DType dtype) {
  const std::string other = "region";
  Type scalar = Type::scalar(dtype);
  if (region.num_arguments() != 2 || region.argument(0)->type() != scalar ||
      region.argument(1)->type() != scalar || region.results.size() != 1 ||
      region.ops().size() != 1)
    return other;
  const Op& op = *region.ops()[0];
  bool plain = op.name() == "stablehlo.compare" && op.operands.size() == 2 &&
               op.operand(0) == region.argument(0) && op.operand(1) == region.argument(1) &&
               op.num_results() == 1 && region.results[0] == op.result() &&
               op.result()->type() == Type::scalar(DType::i1) && op.attrs.size() == 1;
  std::string word = plain ? op.attrs.get_or<std::string>("comparison_direction", other) : other;
  return word == "GE" || word == "GT" || word == "LE" || word == "LT" ? word : other;
}

std::unique_ptr<Block> select_region(const std::string& word, DType dtype) {
  const OpInfo* info = Registry::global().find("stablehlo.compare");
  STRATA_CHECK(info != nullptr, "no operation stablehlo.compare");
  auto block = std::make_unique<Block>();
  Value* a = block->add_argument(Type::scalar(dtype));
  Value* b = block->add_argument(Type::scalar(dtype));
  Builder builder(*block);
  block->results = {
      builder.create(*info, {a, b}, {{"comparison_direction", word}}, {}, {Type::scalar(DType::i1)})
          .result()};
  return block;
}

/// Words for both regions or for none; a comparison that states its type stays a region, so that
/// the text is kept.
void select_and_scatter_from_generic(TextParser& p, Draft& draft) {
  window_lists(p, draft);
  if (draft.regions.size() != 2)
    p.fail_at(p.op_offset(),
              fmt::format("select_and_scatter has {} regions", draft.regions.size()));
  std::string select = "region", combiner = "region";
  if (!draft.operands.empty()) {
    DType dtype = draft.operands[0]->dtype();
    select = recognise_select(*draft.regions[0], dtype);
    combiner = recognise_combiner(*draft.regions[1], dtype);
  }
  bool plain = select != "region" && combiner != "region" && combiner != "assign";
  if (plain) draft.regions.clear();
  draft.attrs.set("select", plain ? select : "region").set("combiner", plain ? combiner : "region");
}
GenericForm select_and_scatter_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  padding_to_generic(out.attrs);
  out.attrs.erase("select");
  out.attrs.erase("combiner");
  if (op.attr<std::string>("select") == "region") return out;
  out.owned.push_back(select_region(op.attr<std::string>("select"), op.operand(0)->dtype()));
  out.owned.push_back(combiner_region(op.attr<std::string>("combiner"), op.operand(0)->dtype()));
  out.regions = {out.owned[0].get(), out.owned[1].get()};
  return out;
}

}  // namespace

namespace formats {
const TextFormat convolution{.print = print_convolution,
                             .parse = parse_convolution,
                             .from_generic = convolution_from_generic,
                             .to_generic = convolution_to_generic};
const TextFormat dynamic_conv{.from_generic = convolution_from_generic,
                              .to_generic = convolution_to_generic};
const TextFormat reduce_window{.from_generic = reduce_window_from_generic,
                               .to_generic = reduce_window_to_generic};
const TextFormat select_and_scatter{.from_generic = select_and_scatter_from_generic,
                                    .to_generic = select_and_scatter_to_generic};
}  // namespace formats
}  // namespace strata::ir
