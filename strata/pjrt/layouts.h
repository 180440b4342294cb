// Layouts: the order in which the dimensions of an array are stored, the fastest first ("minor
// to major", XLA's term). Arrays are row-major unless a framework asks for another order.
//
// Inside, an array of another order is a row-major one whose dimensions are permuted: its type as
// it is laid out. A program that takes or gives such arrays is compiled with transpositions at its
// edges, which fuse with what is there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pjrt {

using Order = std::vector<std::int64_t>;

/// What the attribute `mhlo.layout_mode` of an argument or a result says of an array of this type:
/// "default", "auto" (both row-major here) or an order, "{0,1}". Throws Failure (INVALID_ARGUMENT)
/// for anything else.
Order order_of(const ir::Attrs& attrs, const Type& type);
/// Whether it is an order of so many dimensions: each once.
bool is_order(std::span<const std::int64_t> order, int rank);
bool is_row_major(const Order& order);
/// "{0,1}".
std::string to_string(const Order& order);

/// The type of an array in its layout, and the inverse.
Type as_it_lies(const Type& type, const Order& order);
Type as_it_is_seen(const Type& lying, const Order& order);

/// The body on arrays in their layouts; null where all are row-major.
std::unique_ptr<ir::Block> laid_out(const ir::Block& body, const std::vector<Order>& arguments,
                                    const std::vector<Order>& results);
/// Says the orders on a module in the attributes by which XLA knows them (a module with tokens at
/// its edges stays as it is).
void say_layouts(ir::Module& module, const std::vector<Order>& arguments,
                 const std::vector<Order>& results);

}  // namespace strata::pjrt
