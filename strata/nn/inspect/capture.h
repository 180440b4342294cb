// Looking inside of a model while it runs: what layers put aside, and gradients of intermediates.
//
//   struct Block {
//     Array operator()(const Array& x) {
//       const nn::ModuleScope scope(*this, "Block");
//       Array h = nn::perturb("hidden", up(x));
//       nn::sow("norm", numpy::linalg::norm(h));          // an Intermediate
//       return down(h);
//     }
//   };
//   auto [y, seen] = nn::capture<nn::Intermediate>(model)(x);      // "blocks/0/norm/0", ...
//
//   // The gradient of what was perturbed: zeros first, then by them.
//   auto [y, zeros] = nn::capture<nn::Perturbation>(model)(x);
//   tree::Tree grads = nn::grad([&](tree::Tree& added) {
//     auto [y, same] = nn::capture<nn::Perturbation>(model, {.init = added})(x);
//     return loss(y);
//   }, nn::everything())(zeros);
//
// Where nobody captures the kind, `sow` does nothing and `perturb` gives back its argument. Within
// nn::jit, grad, vjp, vmap, scan, cond, switch_ and remat what is put aside becomes a further
// result of the transform: vmap and scan stack it along a leading axis, and perturbations have that
// axis. It does not leave while_loop and fori_loop, nor the transforms that know no modules.
//
// Source: Flax NNX's sow, perturb and capture. Deviations: a tuple of values is leaves with
// numbers; a captured function is called in place, so that state it changes is changed.
#pragma once

#include <map>
#include <tuple>

#include "strata/nn/module.h"

namespace strata::nn {

struct SowOptions {
  strata::internal::Named named = strata::internal::Named();
  /// One value in place of a list: reduce(what there is, value), which begins with `init`.
  std::optional<Array> init = std::nullopt;
  std::function<Array(const Array&, const Array&)> reduce = {};
};

/// Puts a value aside under the path of the module that is being called.
void sow(const tree::Kind& kind, const std::string& name, const Array& value,
         const SowOptions& options = {});
template <class V = Intermediate>
void sow(const std::string& name, const Array& value, const SowOptions& options = {}) {
  sow(V::kind(), name, value, options);
}
/// The value, with zeros added that are put aside, or what stands there in `init` of the capture.
/// Throws Error where that has another shape.
Array perturb(const tree::Kind& kind, const std::string& name, const Array& value);
template <class V = Perturbation>
Array perturb(const std::string& name, const Array& value) {
  return perturb(V::kind(), name, value);
}

struct CaptureOptions {
  strata::internal::Named named = strata::internal::Named();
  /// What stands there before the first call.
  tree::Tree init = {};
  /// A kind under which results of all calls are put aside, "blocks/0/__call__/0".
  const tree::Kind* method_outputs = nullptr;
};

namespace detail {

/// One call of sow or perturb: where, and how the value joins what there is.
struct Sown {
  std::string path;
  const tree::Kind* kind;
  enum class How { append, reduce, store } how = How::append;
  SowOptions options;
  Array value;
};

/// Where this thread's sown values go while it lives: to a capture, or, within a transform, to a
/// list of further results.
class Collector {
 public:
  /// Of a transform.
  Collector();
  /// Of a capture.
  Collector(std::vector<const tree::Kind*> kinds, const CaptureOptions& options);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  static Collector* current();
  bool captures(const tree::Kind& kind) const;
  /// What is stored at a path.
  std::optional<Array> stored(const std::string& path) const;
  void add(Sown sown);
  /// Stored values have a leading axis, of which this is the place.
  void slice_by(const Array& place) { place_ = place; }
  /// What was put aside within a transform.
  std::vector<Sown>& sown() { return sown_; }
  /// Whether a capture began with values, which programs must not keep as constants.
  static bool has_init();
  /// What a compiled form depends on.
  static std::string key();
  /// Of a capture: for each kind what it and its special cases hold; the first takes it.
  std::vector<tree::Tree> states() const;

 private:
  void keep(const std::string& name, const tree::Kind& kind, const Array& value);
  bool is_capture_ = false;
  std::vector<const tree::Kind*> kinds_;
  std::vector<tree::Entry> entries_;
  std::vector<Array> values_;
  std::map<std::string, std::size_t> places_;
  bool has_init_ = false;
  std::vector<Sown> sown_;
  Array place_;
  const tree::Kind* method_outputs_ = nullptr;
  Collector* outer_;
};

/// Hands what a transform's function put aside, with its values behind the transform, on.
void deliver(std::span<const Sown> sown, std::span<const Array> values);

/// Puts results of all calls aside.
class OutputSower : public CallObserver {
 public:
  explicit OutputSower(const tree::Kind& kind) : kind_(kind) {}
  void returned(const ModuleScope& scope, std::span<const Array> inputs,
                std::span<const Array> outputs) override;

 private:
  const tree::Kind& kind_;
};

template <class R, std::size_t... I>
auto with_states(R result, std::vector<tree::Tree> states, std::index_sequence<I...>) {
  return std::tuple(std::move(result), std::move(states[I])...);
}

}  // namespace detail

/// `capture<Kinds...>(f)(args...)` is std::tuple{f(args...), a State for each kind}. f is a
/// function or a module; a module that is an lvalue is called itself, not a copy of it.
template <class... Kinds, class F>
auto capture(F&& f, CaptureOptions options = {}) {
  static_assert(sizeof...(Kinds) > 0, "capture needs one kind of variable at least");
  return [f = std::tuple<F>(std::forward<F>(f)),
          options = std::move(options)]<class... Args>(Args&&... args) mutable {
    detail::Collector collector({&Kinds::kind()...}, options);
    std::optional<detail::OutputSower> outputs;
    if (options.method_outputs) outputs.emplace(*options.method_outputs);
    auto result = std::get<0>(f)(std::forward<Args>(args)...);
    return detail::with_states(std::move(result), collector.states(),
                               std::index_sequence_for<Kinds...>());
  };
}

}  // namespace strata::nn
