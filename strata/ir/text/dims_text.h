// Names of dimensions, which upstream's types cannot say: they stand in an attribute of the
// argument, `strata.dims = ["B", ""]`.
#pragma once

#include "strata/ir/graph.h"

namespace strata::ir {

/// Gives the argument's type the names that its attributes have for its '?', and takes them out of
/// the attributes.
void take_dims(Value& argument, Attrs& attrs);

/// The inverse: attributes of an argument of this type with the names.
Attrs with_dims(const Type& type, Attrs attrs);

/// No names are written inside a function: results of an operation on named dimensions take the
/// names that it infers.
void infer_dims(Op& op);

}  // namespace strata::ir
