// Where a product's elements go: reshapes and transpositions that alone read it are done by the product as it stores.
#pragma once

#include <functional>
#include <vector>

#include "strata/compile/tree_context.h"

namespace strata::compile {

/// Whether neither tiles nor packing pay: many products of windows with a few columns each (a convolution whose features are in as many
/// groups, say). Such ones are computed in the order in which the result lies, element by element (narrow_product.h).
bool is_narrow(const ir::Op& product);

/// The reshapes and transpositions behind `product`, one reading the other, as far as `only_reader` (the one operation that
/// reads a value, or null) tells that nobody else reads what lies between; of a product that is
/// not narrow, those that keep neighbours together.
std::vector<const ir::Op*> moves_behind(const ir::Op& product, const std::function<const ir::Op*(const ir::Value*)>& only_reader);

/// Row-major offset, in the last of `moves`' results, of the element at `offset` of what the first one reads. `along` is the part of it
/// that may run along the lanes: it stays in the offset where its dimension has one element (and where it is 0), too.
Index landing(loop::Builder& b, std::span<const ir::Op* const> moves, const Index& offset, const Index& along);

}  // namespace strata::compile
