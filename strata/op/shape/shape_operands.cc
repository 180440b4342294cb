#include "strata/op/shape/shape_operands.h"

#include <fmt/ranges.h>

#include "strata/op/foreign/foreign_call.h"
#include "strata/op/shape/refine.h"

namespace strata::op {
namespace {

constexpr const char *kShapes = "indices_of_shape_operands", *kLayouts = "operand_layouts";

template <class... Args>
[[noreturn]] void refuse(const Op& call, fmt::format_string<Args...> format, Args&&... args) {
  throw Error("custom_call", "@{}: {}", call.attr<std::string>("call_target_name"),
              fmt::format(format, std::forward<Args>(args)...))
      .at(call.where.text());
}

/// The list without its entries from `count` on; itself where it has no more.
ir::Opaque first_entries(const ir::Opaque& list, std::size_t count) {
  std::vector<std::string_view> all = foreign::list_elements(list.text);
  if (all.size() <= count) return list;
  all.resize(count);
  return {fmt::format("[{}]", fmt::join(all, ", "))};
}

Type refined_type(const Op& call, int result, const Value* sizes) {
  const Type& stated = call.result(result)->type();
  if (!stated.is_tensor())
    refuse(call, "result {} is {}, which has no shape", result, stated.to_string());
  std::optional<Ints> found = known_integers(sizes);
  if (!found) {
    if (stated.shape().is_static()) return stated;
    expect_known("custom_call", "the shape of a result", sizes);
  }
  for (std::int64_t n : *found)
    if (n < 0) refuse(call, "the shape of result {} has the size {}", result, n);
  const Shape shape = Shape::of(*found);
  if (!may_equal(stated.shape(), shape))
    refuse(call, "result {} is stated to be {}, but its shape operand says {}", result,
           stated.to_string(), stated.with(shape).to_string());
  return stated.with(shape);
}

}  // namespace

std::vector<int> shape_operands(const Op& call) {
  const ir::Attr* a = call.attrs.find(kShapes);
  if (a == nullptr) return {};
  Ints stated;
  if (const auto* list = std::get_if<Ints>(a))
    stated = *list;
  else if (const auto* literal = std::get_if<Literal>(a);
           literal != nullptr && is_integer(literal->dtype()))
    for (std::int64_t i = 0; i < literal->count(); ++i) stated.push_back(literal->integer(i));
  else
    refuse(call, "'{}' is no list of integers", kShapes);
  const std::size_t n = stated.size(), all = call.operands.size();
  bool are_last = n == static_cast<std::size_t>(call.num_results()) && n <= all;
  for (std::size_t i = 0; are_last && i < n; ++i)
    are_last = stated[i] == static_cast<std::int64_t>(all - n + i);
  if (!are_last)
    refuse(call,
           "'{}' lists [{}], not the last of {} operands in order, one for each of {} results",
           kShapes, fmt::join(stated, ", "), all, call.num_results());
  return {stated.begin(), stated.end()};
}

Op& without_shape_operands(Builder& b, const Op& call, std::span<Value* const> operands) {
  const std::vector<int> shapes = shape_operands(call);
  const std::size_t left = operands.size() - shapes.size();
  std::vector<Type> types;
  for (int r = 0; r < call.num_results(); ++r)
    types.push_back(refined_type(call, r, operands[left + static_cast<std::size_t>(r)]));
  Attrs attrs = call.attrs;
  attrs.erase(kShapes);
  if (const ir::Attr* a = attrs.find(kLayouts))
    if (const auto* list = std::get_if<ir::Opaque>(a))
      attrs.set(kLayouts, first_entries(*list, left));
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : call.regions) regions.push_back(ir::clone(*region));
  return b.create(call.info(),
                  {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(left)},
                  std::move(attrs), std::move(regions), std::move(types));
}

}  // namespace strata::op
