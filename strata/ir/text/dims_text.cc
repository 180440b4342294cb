#include "strata/ir/text/dims_text.h"

#include <algorithm>
#include <exception>

#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr char kName[] = "strata.dims";

}  // namespace

void take_dims(Value& argument, Attrs& attrs) {
  const Attr* attr = attrs.find(kName);
  const Strings* names = attr == nullptr ? nullptr : std::get_if<Strings>(attr);
  if (names == nullptr || static_cast<int>(names->size()) != argument.rank()) return;
  std::vector<Dim> dims = argument.shape().dims();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!(*names)[i].empty() && !dims[i].is_static() && !dims[i].is_bounded())
      dims[i] = Dim::symbolic((*names)[i]);
  argument.set_type(argument.type().with(Shape(std::move(dims))));
  attrs.erase(kName);
}

Attrs with_dims(const Type& type, Attrs attrs) {
  if (!is_symbolic(type)) return attrs;
  Strings names;
  for (const Dim& d : type.shape().dims()) names.push_back(d.symbol());
  attrs.set(kName, std::move(names));
  return attrs;
}

void infer_dims(Op& op) {
  if (!op.info().infer || std::none_of(op.operands.begin(), op.operands.end(),
                                       [](const Value* v) { return is_symbolic(v->type()); }))
    return;
  try {
    std::vector<Type> inferred = op.info().infer(op.operands, op.attrs, op.regions);
    for (int i = 0; i < op.num_results() && i < static_cast<int>(inferred.size()); ++i)
      if (same_text(op.result(i)->type(), inferred[static_cast<std::size_t>(i)]))
        op.result(i)->set_type(inferred[static_cast<std::size_t>(i)]);
  } catch (const std::exception&) {  // the verifier says what is wrong, with its place
  }
}

}  // namespace strata::ir
