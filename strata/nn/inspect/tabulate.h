// A model as a table: its modules in the order of their calls, with inputs, outputs, variables.
//
//   fmt::print("{}", nn::tabulate(model)(x));
//   nn::Summary s = nn::summary(model, {.depth = 2, .compute_flops = true})(x);
//   s.rows[1].path;                                     // "layers/0"
//   nn::tabulate_method(model, "encode", [](Model& m, const Array& v) { return m.encode(v); })(x);
//
// The model is traced, not run; it stays as it is. A module has a row where it opens a ModuleScope,
// and inputs and outputs where it gives its result by `returns`; layers of this room do both.
// Source: Flax NNX's tabulate. Deviations: types are written as errors write them, f32[2,3]; of a
// module without a scope there is no row.
#pragma once

#include <map>

#include "strata/nn/transform/callee.h"

namespace strata::nn {

struct SummaryOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The longest path of a row; none: all rows.
  std::optional<std::size_t> depth = std::nullopt;
  /// Operations on numbers of a call, and of a call with its derivative by everything.
  bool compute_flops = false, compute_vjp_flops = false;
};

/// How many numbers there are, and their bytes. A key counts as one.
struct VariableCount {
  std::int64_t elements = 0, bytes = 0;
  bool operator==(const VariableCount&) const = default;
};

/// A call of a module. Equal calls of the same module have one row.
struct SummaryRow {
  std::string path;
  std::string type;
  std::vector<Type> inputs, outputs;
  std::optional<double> flops, vjp_flops;
  /// The module's own variables by the name of their kind, and by theirs; keys and counts of
  /// streams are of kind RngState.
  std::map<std::string, std::map<std::string, Type>> variables;
  /// All variables below it.
  std::map<std::string, VariableCount> subtree;
};

/// A table of calls: rows in the order in which they began, and all variables of the model, by kind
/// and together.
struct Summary {
  std::vector<SummaryRow> rows;
  std::map<std::string, VariableCount> totals;
  VariableCount total;
  bool has_flops = false, has_vjp_flops = false;
  /// "path", "type", "inputs", "outputs", then kinds by name.
  std::vector<std::string> columns() const;
  /// The table.
  std::string to_string() const;
};

namespace detail {
/// Notes the calls of a trace.
class CallRecorder : public CallObserver {
 public:
  explicit CallRecorder(const SummaryOptions& options) : options_(options) {}
  void begins(const ModuleScope& scope) override;
  void ends(const ModuleScope& scope) override;
  void returned(const ModuleScope& scope, std::span<const Array> inputs,
                std::span<const Array> outputs) override;
  Summary finish();

 private:
  struct Open {
    const ModuleScope* scope;
    std::size_t row;
    const ir::Block* block;
    std::size_t first_op;
  };
  const SummaryOptions& options_;
  std::vector<SummaryRow> rows_;
  std::vector<Open> open_;
};

/// The last part of a type's name, without what stands in angle brackets.
std::string short_name(const std::type_info& type);

template <class M, class F>
auto summary(const M& model, std::string method, F call, SummaryOptions options) {
  return [model = M(model), method = std::move(method), call = std::move(call),
          options = std::move(options)]<class... Args>(const Args&... args) mutable {
    const std::string name = short_name(typeid(M));
    const auto f = [&](M& m, const AsOperand<Args>&... each) {
      const ModuleScope scope(m, name.c_str(), method.c_str());
      return scope.returns(call(m, each...), each...);
    };
    CallRecorder recorder(options);
    TypedCallee<decltype(f), M, const Args...> callee(f, model, args...);
    const std::vector<Array> values = values_of(argument_leaves(callee));
    (void)trace(callee, values, Trace::Kind::nested);
    return recorder.finish();
  };
}
}  // namespace detail

/// `summary(model)(args...)`: what a call of the model calls.
template <tree::TreeLike M>
auto summary(const M& model, SummaryOptions options = {}) {
  const auto call = [](M& m, const auto&... args) { return m(args...); };
  return detail::summary(model, ModuleScope::kCall, call, std::move(options));
}
/// The same of a method, which `call(model, args...)` calls; its name joins the first row's path.
template <tree::TreeLike M, class F>
auto summary_of_method(const M& model, std::string method, F call, SummaryOptions options = {}) {
  return detail::summary(model, std::move(method), std::move(call), std::move(options));
}
/// The tables of these.
template <tree::TreeLike M>
auto tabulate(const M& model, SummaryOptions options = {}) {
  return [s = summary(model, std::move(options))](const auto&... args) mutable {
    return s(args...).to_string();
  };
}
/// The table of a method, as `summary_of_method` takes it.
template <tree::TreeLike M, class F>
auto tabulate_method(const M& model, std::string method, F call, SummaryOptions options = {}) {
  return [s = summary_of_method(model, std::move(method), std::move(call), std::move(options))](
             const auto&... args) mutable { return s(args...).to_string(); };
}

}  // namespace strata::nn
