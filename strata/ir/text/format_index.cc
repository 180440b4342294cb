// gather, scatter and sort have the generic form alone; their dimension numbers are one attribute
// there. top_k has a short one.
#include "strata/ir/text/combiner_text.h"
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr const char* kGatherLists[] = {"offset_dims", "collapsed_slice_dims",
                                        "operand_batching_dims", "start_indices_batching_dims",
                                        "start_index_map"};
constexpr const char* kScatterLists[] = {"update_window_dims", "inserted_window_dims",
                                         "input_batching_dims", "scatter_indices_batching_dims",
                                         "scatter_dims_to_operand_dims"};
constexpr const char* kVector = "index_vector_dim";

/// Each number under its name, as bytecode has them; lists that are empty may be absent.
bool is_unpacked(const Draft& draft, std::span<const char* const> lists) {
  auto is_list = [&](const char* name) {
    return !draft.attrs.has(name) || std::holds_alternative<Ints>(*draft.attrs.find(name));
  };
  return draft.attrs.has(kVector) && std::all_of(lists.begin(), lists.end(), is_list);
}

void unpack(TextParser& p, Draft& draft, const std::string& packed, std::string_view prefix,
            std::span<const char* const> lists) {
  if (!draft.attrs.has(packed) && is_unpacked(draft, lists)) {
    for (const char* name : lists)
      if (!draft.attrs.has(name)) draft.attrs.set(name, Ints{});
    return need_integer(p, draft, kVector);
  }
  Fields fields = struct_fields(p, draft, packed, prefix);
  draft.attrs.erase(packed);
  for (const char* name : lists) draft.attrs.set(name, fields[name]);
  const Ints& vector = fields[kVector];
  if (vector.size() > 1)
    p.fail_at(p.op_offset(), fmt::format("{} of {} is no integer", kVector, draft.info->name));
  draft.attrs.set(kVector, vector.empty() ? std::int64_t{0} : vector[0]);
}

void pack(const Op& op, Attrs& attrs, const std::string& packed, std::string_view prefix,
          std::span<const char* const> lists) {
  std::string fields;
  for (const char* name : lists) {
    append_field(fields, name, op.attrs.get_or<Ints>(name, {}));
    attrs.erase(name);
  }
  if (std::int64_t vector = op.attrs.get_or<std::int64_t>(kVector, 0); vector != 0)
    append_field(fields, kVector, vector);
  attrs.erase(kVector);
  attrs.set(packed, Opaque{fmt::format("{}<{}>", prefix, fields)});
}

// ---- gather ------------------------------------------------------------------------------------

void gather_from_generic(TextParser& p, Draft& draft) {
  unpack(p, draft, "dimension_numbers", "#stablehlo.gather", kGatherLists);
  need_ints(p, draft, "slice_sizes");
  optional_flag(p, draft, "indices_are_sorted");
}
void dynamic_gather_from_generic(TextParser& p, Draft& draft) {
  unpack(p, draft, "dimension_numbers", "#stablehlo.gather", kGatherLists);
  optional_flag(p, draft, "indices_are_sorted");
}
GenericForm gather_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  pack(op, out.attrs, "dimension_numbers", "#stablehlo.gather", kGatherLists);
  return out;
}

// ---- scatter -----------------------------------------------------------------------------------

void scatter_from_generic(TextParser& p, Draft& draft) {
  unpack(p, draft, "scatter_dimension_numbers", "#stablehlo.scatter", kScatterLists);
  optional_flag(p, draft, "indices_are_sorted");
  optional_flag(p, draft, "unique_indices");
  if (draft.regions.size() != 1)
    p.fail_at(p.op_offset(), fmt::format("scatter has {} regions", draft.regions.size()));
  std::string word = draft.operands.size() == 3
                         ? recognise_combiner(*draft.regions[0], draft.operands[0]->dtype())
                         : "region";
  draft.attrs.set("combiner", word);
  if (word != "region") draft.regions.clear();
}
GenericForm scatter_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  pack(op, out.attrs, "scatter_dimension_numbers", "#stablehlo.scatter", kScatterLists);
  out.attrs.erase("combiner");
  const std::string& word = op.attr<std::string>("combiner");
  if (word == "region") return out;
  out.owned.push_back(combiner_region(word, op.operand(0)->dtype()));
  out.regions = {out.owned[0].get()};
  return out;
}

void sort_from_generic(TextParser& p, Draft& draft) {
  if (draft.attrs.has("dimension")) need_integer(p, draft, "dimension");
  optional_flag(p, draft, "is_stable");
}

void torch_from_generic(TextParser& p, Draft& draft) {
  need_integer(p, draft, "dim");
  need_integer(p, draft, "batch_dims");
}

// ---- chlo.top_k(%a, k = 2) : T -> (T, I) -------------------------------------------------------

void print_top_k(TextPrinter& p, const Op& op) {
  p << "(";
  p.operands(op);
  p.format(", k = {}", op.attr<std::int64_t>("k"));
  if (op.attrs.has("is_stable"))
    p << ", is_stable = " << (op.attr<bool>("is_stable") ? "true" : "false");
  p << ")";
  p.other_attributes(op, {"k", "is_stable"});
  p << " : " << TextPrinter::types(op.operands) << " -> (" << TextPrinter::types(op.results())
    << ")";
}
void parse_top_k(TextParser& p, Draft& draft) {
  p.expect("(");
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("k");
  p.expect("=");
  draft.attrs.set("k", p.integer());
  if (p.consume(",")) {
    p.expect("is_stable");
    p.expect("=");
    draft.attrs.set("is_stable", p.attribute());
  }
  p.expect(")");
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, {parse_type(p)}, where);
  p.expect("->");
  draft.results = parse_type_list(p);
}
void top_k_from_generic(TextParser& p, Draft& draft) {
  need_integer(p, draft, "k");
  optional_flag(p, draft, "is_stable");
}
std::string_view top_k_name(const Op& op, int result) {
  return op.num_results() == 2 ? (result == 0 ? "values" : "indices") : "";
}

}  // namespace

namespace formats {
const TextFormat dynamic_gather{.from_generic = dynamic_gather_from_generic,
                                .to_generic = gather_to_generic};
const TextFormat torch_index_select{.from_generic = torch_from_generic};
const TextFormat top_k{.print = print_top_k,
                       .parse = parse_top_k,
                       .from_generic = top_k_from_generic,
                       .result_name = top_k_name};
const TextFormat gather{.from_generic = gather_from_generic, .to_generic = gather_to_generic};
const TextFormat scatter{.from_generic = scatter_from_generic, .to_generic = scatter_to_generic};
const TextFormat sort{.from_generic = sort_from_generic};
}  // namespace formats
}  // namespace strata::ir
