// A model in another mode: training or not, decoding or not.
//
//   nn::eval(model);                                            // in place
//   Model decoder = nn::view(model, {.deterministic = true, .decode = true});
//
// A layer is told what it knows: a field of that name that is a flag, a number or an optional of
// these. Nothing has to be declared, and fields of one's own layers are found by name as well.
#pragma once

#include <map>
#include <typeinfo>
#include <variant>

#include "strata/nn/variable.h"

namespace strata::nn {

struct ViewOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<bool> deterministic = std::nullopt, use_running_average = std::nullopt,
                      decode = std::nullopt;
  /// Of the caches of attention layers that begin to decode and have none.
  std::optional<Sizes> batch_size = std::nullopt;
  std::optional<std::int64_t> max_length = std::nullopt;
  /// Other fields by name.
  std::map<std::string, bool> flags = {};
  std::map<std::string, std::int64_t> numbers = {};
  /// The layers that are told, by their paths; kinds do not count.
  Filter only = everything();
};

/// What a type of module does besides when it is told a view, behind its fields: the names of
/// ViewOptions that it reads, and a function of the module.
struct ViewHandler {
  std::vector<std::string> names;
  std::function<void(void* module, const ViewOptions&)> handle;
};
/// Registers a handler for modules of a type, process-wide; a later one takes the place of an
/// earlier one.
void on_view(const std::type_info& type, ViewHandler handler);
template <class M>
void on_view(std::vector<std::string> names, void (*handle)(M&, const ViewOptions&)) {
  on_view(typeid(M), {std::move(names), [handle](void* module, const ViewOptions& options) {
                        handle(*static_cast<M*>(module), options);
                      }});
}

namespace detail {
/// Sets what the options name. Returns the names that no layer knows.
std::vector<std::string> set_view(const std::function<void(tree::Visitor&)>& accept,
                                  const ViewOptions& options);
/// Throws Error for names that no module knows, with those that there are.
void check_all_used(const char* call, const std::vector<std::string>& unused,
                    const std::function<void(tree::Visitor&)>& accept);
std::string view_info(const std::function<void(tree::Visitor&)>& accept, const Filter& only);
}  // namespace detail

/// Tells the layers of a model in place. Throws Error for a name that none of them knows; what it
/// could set is set.
template <tree::TreeLike M>
void set_view(M& model, const ViewOptions& options) {
  const auto accept = [&](tree::Visitor& v) { tree::accept(model, v); };
  detail::check_all_used("view", detail::set_view(accept, options), accept);
}
/// A copy of the model whose layers are told; arrays are shared. Source: Flax NNX's view.
/// Deviation: upstream's view shares its Variables with the model; here state that a call changes
/// is the copy's.
template <tree::TreeLike M>
M view(M model, const ViewOptions& options) {
  set_view(model, options);
  return model;
}
/// What `view` can set of the model's layers: a line for each type, and below it its flags and what
/// else it reads. Source: Flax NNX's view_info.
template <tree::TreeLike M>
std::string view_info(const M& model, const Filter& only = everything()) {
  return detail::view_info([&](tree::Visitor& v) { tree::accept_const(model, v); }, only);
}

/// A flag or a whole number.
using Attribute = std::variant<bool, std::int64_t>;
struct AttributeOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The modules that are meant, by their paths; kinds do not count.
  Filter only = everything();
  bool raise_if_not_found = true;
};
namespace detail {
ViewOptions as_view(const std::map<std::string, Attribute>& attributes, const Filter& only);
}  // namespace detail
/// Sets fields of the model's modules by name, `{{"deterministic", true}, {"num_groups", 4}}`, in
/// place. Throws Error for a name that no module has as a flag or number, unless told not to; what
/// it could set is set. Source: Flax NNX's Module.set_attributes.
template <tree::TreeLike M>
void set_attributes(M& model, const std::map<std::string, Attribute>& attributes,
                    const AttributeOptions& options = {}) {
  const auto accept = [&](tree::Visitor& v) { tree::accept(model, v); };
  const auto unused = detail::set_view(accept, detail::as_view(attributes, options.only));
  if (options.raise_if_not_found) detail::check_all_used("set_attributes", unused, accept);
}
/// A copy of the model with these fields; arrays are shared. Source: Flax NNX's with_attributes.
template <tree::TreeLike M>
M with_attributes(M model, const std::map<std::string, Attribute>& attributes,
                  const AttributeOptions& options = {}) {
  set_attributes(model, attributes, options);
  return model;
}
/// Makes dropout drop and batches give statistics. A model without such layers stays as it is.
/// Source: Flax NNX's Module.train.
template <tree::TreeLike M>
void train(M& model) {
  (void)detail::set_view([&](tree::Visitor& v) { tree::accept(model, v); },
                         {.deterministic = false, .use_running_average = false});
}
/// Makes dropout pass everything and the running statistics count. A model without such layers
/// stays as it is. Source: Flax NNX's Module.eval.
template <tree::TreeLike M>
void eval(M& model) {
  (void)detail::set_view([&](tree::Visitor& v) { tree::accept(model, v); },
                         {.deterministic = true, .use_running_average = true});
}

}  // namespace strata::nn
