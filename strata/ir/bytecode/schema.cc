#include "strata/ir/bytecode/schema.h"

#include <algorithm>
#include <charconv>

#include "strata/base/error.h"
#include "strata/ir/text/attr_text.h"

namespace strata::ir::bytecode {
namespace {

constexpr Release kNever{1 << 20, 0};

/// An operation of VHLO: the releases that brought its first and its second version, and its
/// attributes in alphabetical order;
/// `+`: only of the second version, `-`: only of the first.
struct Row {
  std::string_view name;
  Release first, second;
  std::string_view attributes;
};
constexpr Row kRows[] = {
    {"all_gather",
     {0, 9},
     {1, 5},
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_reduce", {0, 9}, {1, 5}, "channel_id replica_groups use_global_device_ids"},
    {"all_to_all",
     {0, 9},
     {1, 5},
     "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"async_done", {1, 15}, kNever, ""},
    {"async_start", {1, 15}, kNever, ""},
    {"batch_norm_grad", {0, 9}, kNever, "epsilon feature_index"},
    {"batch_norm_inference", {0, 9}, kNever, "epsilon feature_index"},
    {"batch_norm_training", {0, 9}, kNever, "epsilon feature_index"},
    {"broadcast", {0, 9}, kNever, "broadcast_sizes"},
    {"broadcast_in_dim", {0, 9}, kNever, "broadcast_dimensions"},
    {"call", {0, 9}, kNever, "callee"},
    {"cbrt", {0, 9}, {1, 10}, "+result_accuracy"},
    {"cholesky", {0, 9}, kNever, "lower"},
    {"collective_broadcast", {0, 16}, {1, 20}, "channel_id +has_dynamic_root replica_groups"},
    {"collective_permute", {0, 9}, kNever, "channel_id source_target_pairs"},
    {"collective_reduce",
     {1, 19},
     kNever,
     "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"compare", {0, 9}, kNever, "compare_type comparison_direction"},
    {"composite", {0, 19}, {1, 14}, "composite_attributes decomposition name version"},
    {"concatenate", {0, 9}, kNever, "dimension"},
    {"constant", {0, 9}, kNever, "value"},
    {"convolution",
     {0, 9},
     kNever,
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions "
     "lhs_dilation output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation "
     "window_reversal window_strides"},
    {"cosine", {0, 9}, {1, 10}, "+result_accuracy"},
    {"cross-replica-sum", {0, 9}, kNever, "replica_groups"},
    {"custom_call",
     {0, 9},
     {1, 18},
     "api_version backend_config call_target_name called_computations has_side_effect "
     "operand_layouts output_operand_aliases "
     "result_layouts +result_tilings"},
    {"dot", {0, 9}, kNever, "precision_config"},
    {"dot_general",
     {0, 9},
     {1, 6},
     "+accumulation_type +allow_imprecise_accumulation lhs_batching_dimensions "
     "+lhs_component_count lhs_contracting_dimensions "
     "+lhs_precision_type +num_primitive_operations precision_config rhs_batching_dimensions "
     "+rhs_component_count "
     "rhs_contracting_dimensions +rhs_precision_type"},
    {"dynamic_broadcast_in_dim",
     {0, 9},
     kNever,
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_conv",
     {0, 9},
     {0, 20},
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions "
     "lhs_dilation output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions -padding precision_config rhs_dilation "
     "window_reversal window_strides"},
    {"dynamic_gather",
     {0, 9},
     {1, 1},
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims +operand_batching_dims "
     "start_index_map "
     "+start_indices_batching_dims"},
    {"dynamic_iota", {0, 9}, kNever, "iota_dimension"},
    {"dynamic_slice", {0, 9}, kNever, "slice_sizes"},
    {"einsum", {0, 9}, kNever, "einsum_config"},
    {"exponential", {0, 9}, {1, 9}, "+result_accuracy"},
    {"exponential_minus_one", {0, 9}, {1, 10}, "+result_accuracy"},
    {"fft", {0, 9}, kNever, "fft_length fft_type"},
    {"func", {0, 9}, kNever, "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"gather",
     {0, 9},
     {1, 1},
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims +operand_batching_dims "
     "slice_sizes start_index_map "
     "+start_indices_batching_dims"},
    {"get_dimension_size", {0, 9}, kNever, "dimension"},
    {"get_tuple_element", {0, 9}, kNever, "index"},
    {"infeed", {0, 9}, kNever, "infeed_config layout"},
    {"iota", {0, 9}, kNever, "iota_dimension"},
    {"log", {0, 9}, {1, 10}, "+result_accuracy"},
    {"log_plus_one", {0, 9}, {1, 10}, "+result_accuracy"},
    {"logistic", {0, 9}, {1, 10}, "+result_accuracy"},
    {"map", {0, 9}, kNever, "dimensions"},
    {"outfeed", {0, 9}, kNever, "outfeed_config"},
    {"pad", {0, 9}, kNever, "edge_padding_high edge_padding_low interior_padding"},
    {"recv", {0, 9}, {1, 12}, "channel_id channel_type is_host_transfer +source_target_pairs"},
    {"reduce", {0, 9}, kNever, "dimensions"},
    {"reduce_precision", {0, 9}, kNever, "exponent_bits mantissa_bits"},
    {"reduce_scatter",
     {0, 9},
     kNever,
     "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_window",
     {0, 9},
     kNever,
     "base_dilations padding window_dilations window_dimensions window_strides"},
    {"reverse", {0, 9}, kNever, "dimensions"},
    {"rng", {0, 9}, kNever, "rng_distribution"},
    {"rng_bit_generator", {0, 9}, kNever, "rng_algorithm"},
    {"rsqrt", {0, 9}, {1, 10}, "+result_accuracy"},
    {"scatter",
     {0, 9},
     {1, 1},
     "index_vector_dim indices_are_sorted +input_batching_dims inserted_window_dims "
     "scatter_dims_to_operand_dims "
     "+scatter_indices_batching_dims unique_indices update_window_dims"},
    {"select_and_scatter", {0, 9}, kNever, "padding window_dimensions window_strides"},
    {"send", {0, 9}, {1, 12}, "channel_id channel_type is_host_transfer +source_target_pairs"},
    {"set_dimension_size", {0, 9}, kNever, "dimension"},
    {"sine", {0, 9}, {1, 10}, "+result_accuracy"},
    {"slice", {0, 9}, kNever, "limit_indices start_indices strides"},
    {"sort", {0, 9}, kNever, "dimension is_stable"},
    {"sqrt", {0, 9}, {1, 10}, "+result_accuracy"},
    {"tan", {1, 4}, {1, 10}, "+result_accuracy"},
    {"tanh", {0, 9}, {1, 10}, "+result_accuracy"},
    {"torch_index_select", {0, 9}, kNever, "batch_dims dim"},
    {"transpose", {0, 9}, kNever, "permutation"},
    {"triangular_solve", {0, 9}, kNever, "left_side lower transpose_a unit_diagonal"},
    {"unary_einsum", {0, 9}, kNever, "einsum_config"},
};

/// Operations of other dialects; `?`: may be absent.
struct ForeignRow {
  std::string_view name, attributes;
};
constexpr ForeignRow kForeignRows[] = {
    {"builtin.module", "?sym_name ?sym_visibility"},
    {"builtin.unrealized_conversion_cast", ""},
    {"chlo.broadcast_compare", "?broadcast_dimensions ?compare_type comparison_direction"},
    {"chlo.constant", "value"},
    {"chlo.constant_like", "value"},
    {"chlo.ragged_dot", "?precision_config ragged_dot_dimension_numbers"},
    {"chlo.top_k", "k"},
    {"sdy.manual_computation", "in_shardings manual_axes out_shardings"},
    {"sdy.mesh", "mesh sym_name"},
    {"sdy.named_computation", "?in_shardings name ?out_shardings"},
    {"sdy.propagation_barrier", "allowed_direction"},
    {"sdy.reshard", "sharding"},
    {"sdy.return", ""},
    {"sdy.sharding_constraint", "sharding"},
    {"sdy.sharding_group", "group_id"},
};

constexpr AttributeRule kRules[] = {
    {"accumulation_type", Form::same, Default::none_type},
    {"allow_imprecise_accumulation", Form::same, Default::none_type},
    {"api_version", Form::api_version, Default::first_api},
    {"backend_config", Form::same, Default::empty, {}, "\"\""},
    {"base_dilations", Form::list, Default::ones},
    {"broadcast_dimensions", Form::list},
    {"broadcast_sizes", Form::list},
    {"called_computations", Form::symbols, Default::empty},
    {"callee", Form::symbol},
    {"channel_id", Form::same, Default::zero},
    {"collapsed_slice_dims", Form::list},
    {"compare_type", Form::same, Default::no_type},
    {"composite_attributes", Form::same, Default::empty, {}, "{}"},
    {"decomposition", Form::symbol},
    {"dimension", Form::same, Default::minus_one, "stablehlo.sort"},
    {"dimensions", Form::list},
    {"edge_padding_high", Form::list},
    {"edge_padding_low", Form::list},
    {"fft_length", Form::list},
    {"has_dynamic_root", Form::flag, Default::no},
    {"has_side_effect", Form::same, Default::no},
    {"indices_are_sorted", Form::same, Default::no},
    {"infeed_config", Form::same, Default::said, {}, "\"\""},
    {"input_batching_dims", Form::list, Default::empty},
    {"input_spatial_dimensions", Form::list},
    {"inserted_window_dims", Form::list},
    {"interior_padding", Form::list},
    {"is_host_transfer", Form::same, Default::no},
    {"is_stable", Form::same, Default::no},
    {"kernel_spatial_dimensions", Form::list},
    {"known_expanding_dimensions", Form::list, Default::empty},
    {"known_nonexpanding_dimensions", Form::list, Default::empty},
    {"layout", Form::same, Default::empty},
    {"lhs_batching_dimensions", Form::list},
    {"lhs_component_count", Form::same, Default::none_type},
    {"lhs_contracting_dimensions", Form::list},
    {"lhs_dilation", Form::list, Default::ones},
    {"lhs_precision_type", Form::same, Default::none_type},
    {"limit_indices", Form::list},
    {"lower", Form::same, Default::no, "stablehlo.cholesky"},
    {"num_primitive_operations", Form::same, Default::none_type},
    {"offset_dims", Form::list},
    {"operand_batching_dims", Form::list, Default::empty},
    {"operand_layouts", Form::same, Default::empty},
    {"outfeed_config", Form::same, Default::said, {}, "\"\""},
    {"output_operand_aliases", Form::same, Default::empty},
    {"output_spatial_dimensions", Form::list},
    {"padding", Form::same, Default::zeros},
    {"permutation", Form::list},
    {"precision_config", Form::same, Default::two_precisions},
    {"result_accuracy", Form::same, Default::accuracy},
    {"result_layouts", Form::same, Default::empty},
    {"result_tilings", Form::same, Default::empty},
    {"rhs_batching_dimensions", Form::list},
    {"rhs_component_count", Form::same, Default::none_type},
    {"rhs_contracting_dimensions", Form::list},
    {"rhs_dilation", Form::list, Default::ones},
    {"rhs_precision_type", Form::same, Default::none_type},
    {"scatter_dims_to_operand_dims", Form::list},
    {"scatter_indices_batching_dims", Form::list, Default::empty},
    {"slice_sizes", Form::list},
    {"source_target_pairs", Form::same, Default::empty, "stablehlo.recv", "array<i64>"},
    {"source_target_pairs", Form::same, Default::empty, "stablehlo.send", "array<i64>"},
    {"start_index_map", Form::list},
    {"start_indices", Form::list},
    {"start_indices_batching_dims", Form::list, Default::empty},
    {"strides", Form::list},
    {"unique_indices", Form::same, Default::no},
    {"update_window_dims", Form::list},
    {"use_global_device_ids", Form::flag, Default::no},
    {"version", Form::same, Default::zero},
    {"window_dilations", Form::list, Default::ones},
    {"window_dimensions", Form::list},
    {"window_reversal", Form::flags, Default::nos},
    {"window_strides", Form::list, Default::ones},
};

constexpr std::string_view kFunctionDialect[] = {
    "func", "call", "return"};  // what is not StableHLO's though VHLO has it

const Row* row_of(std::string_view name) {
  auto at = std::lower_bound(std::begin(kRows), std::end(kRows), name,
                             [](const Row& r, std::string_view n) { return r.name < n; });
  return at != std::end(kRows) && at->name == name ? &*at : nullptr;
}

/// ("gather", 2) of "gather_v2"; version 0 when there is none.
std::pair<std::string_view, int> split_version(std::string_view name) {
  std::size_t at = name.rfind("_v");
  int version = 0;
  if (at == std::string_view::npos) return {name, 0};
  std::string_view digits = name.substr(at + 2);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  bool good = error == std::errc() && end == digits.data() + digits.size() && version > 0;
  return {name.substr(0, at), good ? version : 0};
}

template <class F>
void each_word(std::string_view words, F&& f) {
  while (!words.empty()) {
    std::size_t end = std::min(words.find(' '), words.size());
    f(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

// ---- from VHLO's form --------------------------------------------------------------------------

[[noreturn]] void misfit(std::string_view operation, std::string_view name, const Attr& a,
                         std::string_view what) {
  throw Error(std::string(operation), "attribute '{}' is {}, which is no {}", name, attr_text(a),
              what);
}

Ints list_of(std::string_view operation, std::string_view name, const Attr& a, DType dtype) {
  const Literal* literal = std::get_if<Literal>(&a);
  if (literal == nullptr || literal->dtype() != dtype || literal->shape().rank() != 1)
    misfit(operation, name, a, "list");
  Ints out;
  for (std::int64_t i = 0; i < literal->count(); ++i) out.push_back(literal->integer(i));
  return out;
}

Attr symbols_of(std::string_view operation, std::string_view name, const Attr& a) {
  if (const Strings* names = std::get_if<Strings>(&a)) {
    std::string out;
    for (const std::string& n : *names) out += (out.empty() ? "" : ", ") + symbol_text(n);
    return Opaque{"[" + out + "]"};
  }
  const Opaque* none = std::get_if<Opaque>(&a);
  if (none == nullptr || none->text != "[]") misfit(operation, name, a, "list of names");
  return a;
}

Attr in_form(Form form, std::string_view operation, std::string_view name, const Attr& a) {
  switch (form) {
    case Form::list: return list_of(operation, name, a, DType::i64);
    case Form::flags: return list_of(operation, name, a, DType::i1);
    case Form::symbols: return symbols_of(operation, name, a);
    case Form::symbol: {
      const std::string* text = std::get_if<std::string>(&a);
      if (text == nullptr) misfit(operation, name, a, "name");
      return Opaque{symbol_text(*text)};
    }
    case Form::api_version: {
      const Opaque* number = std::get_if<Opaque>(&a);
      if (number == nullptr || number->text.size() != 7 ||
          number->text.find_first_of("01234") != 0 || number->text.substr(1) != " : i32")
        misfit(operation, name, a, "version");
      break;
    }
    case Form::same:
    case Form::flag: break;
  }
  return a;
}

bool is_opaque(const Attr& a, std::string_view text) {
  const Opaque* o = std::get_if<Opaque>(&a);
  return o != nullptr && o->text == text;
}

bool is_empty(const Attr& a) {
  if (const std::string* s = std::get_if<std::string>(&a)) return s->empty();
  if (const Ints* i = std::get_if<Ints>(&a)) return i->empty();
  if (const Literal* l = std::get_if<Literal>(&a)) return l->count() == 0;
  return is_opaque(a, "[]") || is_opaque(a, "{}");
}

bool is_all(const Attr& a, std::int64_t value) {
  const Ints* list = std::get_if<Ints>(&a);
  return list != nullptr && !list->empty() &&
         std::all_of(list->begin(), list->end(), [&](std::int64_t v) { return v == value; });
}

bool is_zeros(const Attr& a) {
  const Literal* l = std::get_if<Literal>(&a);
  return l != nullptr && l->count() > 0 && l->is_splat() && !is_inexact(l->dtype()) &&
         l->integer(0) == 0;
}

bool is_default(Default otherwise, const Attr& a) {
  switch (otherwise) {
    case Default::none:
    case Default::said: return false;
    case Default::accuracy:
      return is_opaque(
          a, "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>");
    case Default::zero: return equal(a, std::int64_t{0}) || is_opaque(a, "0 : i32");
    case Default::minus_one: return equal(a, std::int64_t{-1});
    case Default::no: return equal(a, false);
    case Default::empty: return is_empty(a);
    case Default::ones: return is_all(a, 1);
    case Default::nos: return is_all(a, 0);
    case Default::zeros: return is_zeros(a);
    case Default::two_precisions:
      return is_opaque(a, "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]");
    case Default::no_type: return is_opaque(a, "#stablehlo<comparison_type NOTYPE>");
    case Default::first_api: return is_opaque(a, "1 : i32");
    case Default::none_type: return is_opaque(a, "none");
  }
  return false;
}

/// Seven attributes, or none of them, as one.
constexpr const char* kAlgorithm[] = {"lhs_precision_type",          "rhs_precision_type",
                                      "accumulation_type",           "lhs_component_count",
                                      "rhs_component_count",         "num_primitive_operations",
                                      "allow_imprecise_accumulation"};
void pack_algorithm(Attrs& attrs) {
  std::string fields;
  for (const char* name : kAlgorithm) {
    const Attr* a = attrs.find(name);
    if (a == nullptr) continue;
    fields += fmt::format("{}{} = {}", fields.empty() ? "" : ", ", name, attr_text(*a, true));
    attrs.erase(name);
  }
  if (!fields.empty())
    attrs.set("algorithm", Opaque{fmt::format("#stablehlo.dot_algorithm<{}>", fields)});
}

}  // namespace

std::optional<Release> parse_release(std::string_view text) {
  constexpr std::string_view prefix = "StableHLO_v";
  if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
  int numbers[3] = {};
  const char *at = text.data(), *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < 0 || (i < 2 && (next == end || *next != '.')))
      return std::nullopt;
    at = i < 2 ? next + 1 : next;
  }
  if (at != end) return std::nullopt;
  return Release{numbers[0], numbers[1]};
}

std::optional<std::vector<Property>> properties_of(std::string_view dialect,
                                                   std::string_view name) {
  std::vector<Property> out;
  if (dialect != "vhlo") {
    const std::string full = fmt::format("{}.{}", dialect, name);
    for (const ForeignRow& r : kForeignRows) {
      if (r.name != full) continue;
      each_word(r.attributes, [&](std::string_view w) {
        out.push_back({w[0] == '?' ? w.substr(1) : w, w[0] == '?'});
      });
      return out;
    }
    constexpr std::string_view broadcasting = "chlo.broadcast_";
    if (full.substr(0, broadcasting.size()) == broadcasting)
      return std::vector<Property>{{"broadcast_dimensions", true}};
    return std::nullopt;
  }
  auto [base, version] = split_version(name);
  const Row* row = row_of(base);
  int newest = row != nullptr && row->second != kNever ? 2 : 1;
  if (version < 1 || version > newest) return std::nullopt;
  if (row == nullptr) return out;
  each_word(row->attributes, [&](std::string_view w) {
    if (w[0] == (version == 1 ? '+' : '-')) return;
    out.push_back({w[0] == '+' || w[0] == '-' ? w.substr(1) : w, false});
  });
  return out;
}

std::vector<std::string_view> later_properties(std::string_view dialect, std::string_view name) {
  std::vector<std::string_view> out;
  auto [base, version] = split_version(name);
  const Row* row = dialect == "vhlo" && version == 1 ? row_of(base) : nullptr;
  if (row != nullptr)
    each_word(row->attributes, [&](std::string_view w) {
      if (w[0] == '+') out.push_back(w.substr(1));
    });
  return out;
}

std::string operation_of(std::string_view dialect, std::string_view name) {
  if (dialect != "vhlo") return fmt::format("{}.{}", dialect, name);
  std::string_view base = split_version(name).first;
  bool is_function = std::find(std::begin(kFunctionDialect), std::end(kFunctionDialect), base) !=
                     std::end(kFunctionDialect);
  return fmt::format("{}.{}", is_function ? "func" : "stablehlo", base);
}

std::optional<std::string> vhlo_name(std::string_view operation, Release release) {
  std::string_view base = operation.substr(operation.find('.') + 1);
  const Row* row = row_of(base);
  if (row == nullptr) return fmt::format("{}_v1", base);
  if (release < row->first) return std::nullopt;
  return fmt::format("{}_v{}", base, release < row->second ? 1 : 2);
}

bool has_property(std::string_view operation, std::string_view attribute) {
  const Row* row = row_of(operation.substr(operation.find('.') + 1));
  bool found = false;
  if (row != nullptr)
    each_word(row->attributes, [&](std::string_view w) {
      found |= (w[0] == '+' || w[0] == '-' ? w.substr(1) : w) == attribute;
    });
  return found;
}

const AttributeRule* rule_of(std::string_view operation, std::string_view attribute) {
  auto at = std::lower_bound(std::begin(kRules), std::end(kRules), attribute,
                             [](const AttributeRule& r, std::string_view n) { return r.name < n; });
  for (; at != std::end(kRules) && at->name == attribute; ++at)
    if (at->operation.empty() || at->operation == operation) return &*at;
  return nullptr;
}

void from_vhlo(std::string_view operation, Attrs& attrs) {
  constexpr char kId[] = "channel_id", kType[] = "channel_type", kPadding[] = "padding";
  if (operation == "stablehlo.dynamic_conv")
    attrs.erase(kPadding);  // of its first version, which has it as an operand too
  Attrs out;
  bool has_type = has_property(operation, kType), keeps_layouts = false;
  if (has_property(operation, kId) && !has_type && attrs.has(kType))
    throw Error(std::string(operation), "attribute '{}' is none of its own", kType);
  for (const char* layouts : {"operand_layouts", "result_layouts"})
    keeps_layouts = keeps_layouts || (attrs.has(layouts) && !is_empty(*attrs.find(layouts)));
  for (const auto& [name, value] : attrs) {
    const AttributeRule* rule = has_property(operation, name) ? rule_of(operation, name) : nullptr;
    Attr now = rule == nullptr ? value : in_form(rule->form, operation, name, value);
    bool stays = (name == kId && has_type) ||
                 (keeps_layouts && (name == "operand_layouts" || name == "result_layouts"));
    if (rule == nullptr || stays || !is_default(rule->otherwise, now))
      out.set(name, std::move(now));
  }
  if (has_property(operation, kId) && !has_type && out.has(kId)) out.set(kType, std::int64_t{0});
  if (has_property(operation, kAlgorithm[0])) pack_algorithm(out);
  attrs = std::move(out);
}

}  // namespace strata::ir::bytecode
