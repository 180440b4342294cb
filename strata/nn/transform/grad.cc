#include "strata/nn/transform/grad.h"

#include <fmt/ranges.h>

#include <set>

namespace strata::nn::detail {

namespace {
/// The first `count` of a list, and the rest.
std::vector<Array> head(const std::vector<Array>& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}
std::span<const Array> tail(const std::vector<Array>& all, std::size_t from) {
  return std::span(all).subspan(from);
}
/// The kinds of a tree's leaves, each once.
std::string kinds_of(const tree::Tree& tree) {
  std::set<std::string_view> kinds;
  for (const tree::Entry& entry : tree.entries()) kinds.insert(entry.kind->name());
  return fmt::format("{}", fmt::join(kinds, ", "));
}
/// Throws Error with the path of the first leaf that has no derivative, such as a key or a count.
void check_floats(const Callee& callee, std::span<const Array> values,
                  const std::vector<bool>& active, const GradOptions& options) {
  if (options.allow_int) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (active[i] && !is_float(values[i].dtype()) && !is_complex(values[i].dtype()))
      strata::internal::fail("grad",
                             "{} is {} and has no derivative; a filter such as nn::of<nn::Param>() "
                             "leaves it out",
                             argument_paths(callee)[i],
                             strata::internal::describe(values[i].type()));
}
}  // namespace

ValueAndGrads value_and_grad(Callee& callee, const tree::Filter& wrt, const GradOptions& options) {
  if (options.argnum >= callee.arguments())
    strata::internal::fail("grad", "argnum is {}, the function got {} arguments", options.argnum,
                           callee.arguments());
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  const tree::Tree argument = argument_tree(callee, options.argnum);
  std::vector<bool> active(leaves.size(), false);
  std::vector<tree::Entry> entries;
  std::size_t within = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].argument != options.argnum) continue;
    active[i] = wrt(argument.entry(within), argument.value(within));
    if (active[i]) entries.push_back(argument.entry(within));
    ++within;
  }
  if (entries.empty())
    strata::internal::fail("grad",
                           "the filter {} takes none of the {} leaves of argument {}, which are of "
                           "the kinds [{}]",
                           wrt.text(), argument.size(), options.argnum, kinds_of(argument));
  check_floats(callee, values, active, options);
  const strata::internal::Differentiation asked{"grad", false, options.holomorphic,
                                                options.allow_int};
  strata::internal::check_arguments(asked, values, active, argument_paths(callee));
  const Traced traced = trace(callee, values, Trace::Kind::nested);
  strata::internal::check_loss(asked, traced.program.block->results[0]->type());
  const std::vector<Array> out = strata::internal::value_and_grad(traced.program, values, active);
  give_out(traced, leaves, out);
  const std::size_t all = traced.outputs();
  return {
      head(out, traced.results),
      tree::Tree(std::move(entries),
                 std::vector<Array>(out.begin() + static_cast<std::ptrdiff_t>(all), out.end()))};
}

Pullback vjp(Callee& callee) {
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  const Traced traced = trace(callee, values, Trace::Kind::nested);
  auto [results, linear] = strata::internal::linearize(traced.program, values, traced.results);
  give_out(traced, leaves, results);
  return {head(results, traced.results), std::move(linear)};
}

std::vector<Array> jvp(Callee& callee, std::span<const Array> tangents) {
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  const Traced traced = trace(callee, values, Trace::Kind::nested);
  const std::vector<Array> out =
      strata::internal::jvp(traced.program, values, tangents, traced.results);
  std::vector<Array> both = head(out, traced.results);
  const std::size_t all = traced.outputs();
  both.insert(both.end(), out.begin() + static_cast<std::ptrdiff_t>(all), out.end());
  give_out(traced, leaves, out);
  return both;
}

}  // namespace strata::nn::detail
