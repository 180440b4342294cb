#include "strata/pjrt/layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "strata/op/build.h"
#include "strata/pjrt/error.h"
#include "strata/type/permutation.h"
#include "strata/type/strided.h"

namespace strata::pjrt {
namespace {

/// The integers of "{0,1}"; nothing where the text is something else.
std::optional<Order> parsed(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return std::nullopt;
  Order out;
  const char *at = text.data() + 1, *end = text.data() + text.size() - 1;
  while (at != end) {
    std::int64_t dimension = 0;
    const auto [stop, error] = std::from_chars(at, end, dimension);
    if (error != std::errc() || (stop != end && *stop != ',') || stop + 1 == end)
      return std::nullopt;
    out.push_back(dimension);
    at = stop == end ? end : stop + 1;
  }
  return out;
}

/// Dimensions in their order in memory, the slowest first.
ir::Ints major_to_minor(const Order& order) { return {order.rbegin(), order.rend()}; }

bool all_row_major(const std::vector<Order>& orders) {
  return std::all_of(orders.begin(), orders.end(), is_row_major);
}

/// [dense<[1, 0]> : tensor<2xindex>, ...]
ir::Opaque layouts_text(const std::vector<Order>& orders) {
  std::string out;
  for (const Order& order : orders)
    out +=
        fmt::format("{}dense<{}> : tensor<{}xindex>", out.empty() ? "" : ", ",
                    order.empty() ? "" : fmt::format("[{}]", fmt::join(order, ", ")), order.size());
  return ir::Opaque{"[" + out + "]"};
}

}  // namespace

bool is_order(std::span<const std::int64_t> order, int rank) {
  std::vector<std::int64_t> sorted(order.begin(), order.end()), all(static_cast<std::size_t>(rank));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  return sorted == all;
}

bool is_row_major(const Order& order) { return std::is_sorted(order.rbegin(), order.rend()); }

std::string to_string(const Order& order) { return fmt::format("{{{}}}", fmt::join(order, ",")); }

Order order_of(const ir::Attrs& attrs, const Type& type) {
  const int rank = type.is_tensor() ? type.rank() : 0;
  const ir::Attr* attr = attrs.find("mhlo.layout_mode");
  const auto* mode = attr ? std::get_if<std::string>(attr) : nullptr;
  if (mode == nullptr || *mode == "default" || *mode == "auto") return row_major(rank);
  std::optional<Order> order = parsed(*mode);
  if (!order || !is_order(*order, rank))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "layout {} of {} is no order of its dimensions", *mode,
         type.to_string());
  return std::move(*order);
}

Type as_it_lies(const Type& type, const Order& order) {
  return is_row_major(order) ? type : permuted(type, major_to_minor(order));
}
Type as_it_is_seen(const Type& lying, const Order& order) {
  return is_row_major(order) ? lying : permuted(lying, inverse_permutation(major_to_minor(order)));
}

std::unique_ptr<ir::Block> laid_out(const ir::Block& body, const std::vector<Order>& arguments,
                                    const std::vector<Order>& results) {
  if (all_row_major(arguments) && all_row_major(results)) return nullptr;
  auto out = std::make_unique<ir::Block>();
  ir::Builder b(*out);
  ir::ValueMap map;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ir::Value* seen = body.argument(static_cast<int>(i));
    ir::Value* lying = out->add_argument(as_it_lies(seen->type(), arguments[i]), seen->hint());
    map.set(seen, is_row_major(arguments[i])
                      ? lying
                      : op::transpose(b, lying, inverse_permutation(major_to_minor(arguments[i]))));
  }
  for (const auto& op : body.ops()) {
    b.set_location(op->where);
    ir::clone(b, *op, map);
  }
  const ir::Values seen = map(body.results);
  for (std::size_t r = 0; r < seen.size(); ++r)
    out->results.push_back(
        is_row_major(results[r]) ? seen[r] : op::transpose(b, seen[r], major_to_minor(results[r])));
  return out;
}

void say_layouts(ir::Module& module, const std::vector<Order>& arguments,
                 const std::vector<Order>& results) {
  const ir::Function* f = module.entry();
  auto is_array = [](const Type& type) { return type.is_tensor(); };
  std::vector<Type> types = f->body.result_types();
  for (const ir::Value* v : f->body.argument_values()) types.push_back(v->type());
  if (!std::all_of(types.begin(), types.end(), is_array)) return;
  module.attrs.set("mhlo.xla_entry_computation_parameter_layouts", layouts_text(arguments));
  module.attrs.set("mhlo.xla_entry_computation_result_layout", layouts_text(results));
}

}  // namespace strata::pjrt
