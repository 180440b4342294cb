#include "strata/api/transform/grad.h"

#include "strata/api/sharding/varying.h"
#include "strata/api/trace/compose.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/transpose.h"

namespace strata::internal {
namespace {

std::vector<Array> with_captured(const Program& program, std::span<const Array> arguments) {
  return joined(std::vector<Array>(arguments.begin(), arguments.end()), program.captured);
}

/// The program to differentiate: within shard_maps that follow what varies, one whose cotangents
/// vary as its arguments do.
class Followed {
 public:
  Followed(const Program& program, std::vector<Array>& operands) : block_(program.block.get()) {
    const std::vector<BoundAxis> axes = followed_axes();
    if (axes.empty()) return;
    std::vector<bool> gathered;
    for (const Array& x : operands)
      gathered.push_back(x.is_traced() && is_gathered(*x.state()->value));
    std::vector<std::pair<std::string, std::int64_t>> named;
    for (const BoundAxis& axis : axes) {
      named.emplace_back(axis.name, axis.size);
      operands.push_back(axis.place);
    }
    own_ = with_followed_axes(*program.block, named, gathered);
    block_ = own_.get();
  }
  const ir::Block& block() const { return *block_; }

 private:
  std::unique_ptr<ir::Block> own_;
  const ir::Block* block_;
};

bool has_derivative(const Type& type) { return is_inexact(type.dtype()); }

Value* or_zeros(Builder& b, Value* v, const Type& type) { return v ? v : op::zeros(b, type); }

}  // namespace

void check_arguments(const Differentiation& asked, std::span<const Array> leaves,
                     const std::vector<bool>& active, const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!active[i]) continue;
    const DType dtype = leaves[i].dtype();
    const std::string given = fmt::format("{} is {}", paths[i], describe(leaves[i].type()));
    if (asked.holomorphic && !is_complex(dtype))
      fail(asked.operation, "{}: holomorphic functions are of complex numbers", given);
    if (asked.forward && !asked.holomorphic && is_complex(dtype))
      fail(asked.operation,
           "{}: real arguments are needed; for a holomorphic function say {{.holomorphic = true}}, "
           "for others use jvp",
           given);
    if (!has_derivative(leaves[i].type()) && !asked.allow_int)
      fail(asked.operation, "{}: only floats have derivatives{}", given,
           asked.forward ? "" : " (under {.allow_int = true} those of integers are zeros)");
  }
}

void check_result(const Differentiation& asked, const Type& result) {
  if (asked.holomorphic) {
    if (!is_complex(result.dtype()))
      fail(asked.operation,
           "the function returns {}: holomorphic functions result in complex numbers",
           describe(result));
    return;
  }
  if (asked.forward || is_float(result.dtype())) return;
  if (is_complex(result.dtype()))
    fail(asked.operation,
         "the function returns {}: floats are needed; for a holomorphic function say "
         "{{.holomorphic = true}}, for others use vjp",
         describe(result));
  fail(asked.operation, "the function returns {}: floats are needed; for others use vjp",
       describe(result));
}

void check_aux(const std::optional<bool>& said, bool has_aux) {
  if (said && *said && !has_aux)
    fail("grad", "has_aux is true, but the function returns the loss alone, not pair{{loss, aux}}");
  if (said && !*said && has_aux)
    fail("grad", "has_aux is false, but the function returns pair{{loss, aux}}");
}
void check_loss(const Differentiation& asked, const Type& result) {
  if (result.rank() != 0)
    fail(asked.operation, "the function must return a float scalar, got {}", describe(result));
  check_result(asked, result);
}

std::vector<Array> value_and_grad(const Program& program, std::span<const Array> arguments,
                                  const std::vector<bool>& wanted) {
  std::vector<Array> operands = with_captured(program, arguments);
  const Followed followed(program, operands);
  std::vector<bool> weak = program.weak, active(operands.size(), false);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) weak.push_back(arguments[i].weak());
    active[i] = wanted[i] && has_derivative(arguments[i].type());
  }
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        const op::LinearBlock l = op::linearize(b, followed.block(), v, active);
        Values out = l.results;
        Values cotangents;
        for (std::size_t i = 0, n = 0; i < l.active.size(); ++i)
          if (l.active[i])
            cotangents.push_back(i == 0 && n++ == 0 ? op::constant(b, l.results[0]->type(), 1)
                                                    : nullptr);
        const Values grads = op::transpose(b, *l.linear, cotangents);
        for (std::size_t i = 0, next = 0; i < wanted.size(); ++i)
          if (wanted[i])
            out.push_back(or_zeros(b, active[i] ? grads[next++] : nullptr, v[i]->type()));
        return out;
      },
      weak);
}

std::vector<Array> jvp(const Program& program, std::span<const Array> arguments,
                       std::span<const Array> tangents, std::size_t differentiated) {
  const std::size_t n = arguments.size();
  if (tangents.size() != n) fail("jvp", "{} primal arrays but {} tangents", n, tangents.size());
  for (std::size_t i = 0; i < n; ++i)
    if (arguments[i].shape() != tangents[i].shape())
      fail("jvp", "primal {} is {}, its tangent {}", i, describe(arguments[i].type()),
           describe(tangents[i].type()));
  std::vector<Array> operands = with_captured(program, arguments);
  const std::size_t all = operands.size();
  for (std::size_t i = 0; i < n; ++i)
    operands.push_back(has_derivative(arguments[i].type())
                           ? cast(tangents[i], {arguments[i].dtype(), arguments[i].weak()})
                           : tangents[i]);
  std::vector<bool> weak = program.weak;
  weak.insert(weak.end(), program.weak.begin(),
              program.weak.begin() + static_cast<std::ptrdiff_t>(differentiated));
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        Values direction(all, nullptr);
        for (std::size_t i = 0; i < n; ++i)
          if (has_derivative(v[i]->type())) direction[i] = v[all + i];
        op::JvpResult r =
            op::jvp(b, *program.block,
                    Values(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(all)), direction);
        Values out = r.results;
        for (std::size_t i = 0; i < differentiated; ++i)
          out.push_back(or_zeros(b, r.tangents[i], r.results[i]->type()));
        return out;
      },
      weak);
}

namespace {
/// Leaves the derivatives of the first `count` results.
void keep_first(op::LinearBlock& l, std::size_t count) {
  if (count == l.active.size()) return;
  l.active.resize(count);
  l.linear->results.resize(
      static_cast<std::size_t>(std::count(l.active.begin(), l.active.end(), true)));
  ir::remove_dead(*l.linear);
}
}  // namespace

LinearizedProgram linearize(const Program& program, std::span<const Array> arguments,
                            std::size_t differentiated) {
  std::vector<Array> operands = with_captured(program, arguments);
  const Followed followed(program, operands);
  LinearizedProgram out;
  Linear& linear = out.linear;
  for (const Array& a : arguments) {
    linear.argument_types.push_back(a.type());
    linear.active_arguments.push_back(has_derivative(a.type()));
  }
  linear.result_types = program.block->result_types();
  linear.result_types.resize(differentiated, Type::scalar(DType::f32));
  std::vector<bool> active = linear.active_arguments;
  active.resize(operands.size(), false);
  const std::vector<Array> all = emit(
      operands,
      [&](Builder& b, const Values& v) {
        op::LinearBlock l = op::linearize(b, followed.block(), v, active);
        keep_first(l, differentiated);
        Values results = l.results;
        const Values residuals = ir::close_over(*l.linear);
        results.insert(results.end(), residuals.begin(), residuals.end());
        linear.active_results = l.active;
        linear.block = std::move(l.linear);
        return results;
      },
      program.weak);
  const std::size_t n = program.block->results.size();
  out.results = part(all, 0, n);
  linear.residuals = part(all, n, all.size() - n);
  return out;
}

namespace {
/// The entries of `all` where `chosen`, which have these types.
std::vector<Array> filter(const char* name, std::span<const Array> all,
                          const std::vector<bool>& chosen, const std::vector<Type>& types) {
  if (all.size() != chosen.size())
    fail(name, "{} arrays are needed, got {}", chosen.size(), all.size());
  std::vector<Array> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!chosen[i]) continue;
    if (all[i].shape() != types[i].shape())
      fail(name, "array {} is {}, expected {}", i, describe(all[i].type()), describe(types[i]));
    out.push_back(cast(all[i], {types[i].dtype(), false}));
  }
  return out;
}
}  // namespace

std::vector<Array> Linear::push(std::span<const Array> tangents) const {
  const std::vector<Array> operands =
      joined(filter("linearize", tangents, active_arguments, argument_types), residuals);
  return emit(operands, [&](Builder& b, const Values& v) {
    const Values some = ir::inline_block(b, *block, v);
    Values out;
    for (std::size_t i = 0, next = 0; i < result_types.size(); ++i)
      out.push_back(active_results[i] ? some[next++] : op::zeros(b, result_types[i]));
    return out;
  });
}

std::vector<Array> Linear::pull(std::span<const Array> cotangents) const {
  const std::vector<Array> given = filter("vjp", cotangents, active_results, result_types);
  return emit(joined(given, residuals), [&](Builder& b, const Values& v) {
    const Values cts(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(given.size()));
    const std::size_t tangents =
        static_cast<std::size_t>(block->num_arguments()) - residuals.size();
    Values operands(tangents, nullptr);
    operands.insert(operands.end(), v.begin() + static_cast<std::ptrdiff_t>(given.size()), v.end());
    std::vector<bool> is_linear(tangents, true);
    is_linear.resize(operands.size(), false);
    const Values some = op::transpose(b, *block, operands, is_linear, cts);
    Values out;
    for (std::size_t i = 0, next = 0; i < argument_types.size(); ++i)
      out.push_back(or_zeros(b, active_arguments[i] ? some[next++] : nullptr, argument_types[i]));
    return out;
  });
}

}  // namespace strata::internal
