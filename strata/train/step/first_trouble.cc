#include "strata/train/step/first_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"

namespace strata::train {
namespace {

/// A layer: which stack of weights it stands in, and where there.
struct Place {
  std::string stack;
  std::int64_t at = 0;
};

bool is_float(const Array& x) { return is_inexact(x.dtype()); }
bool all_finite(const Array& x) { return !is_float(x) || all(isfinite(x)).item<bool>(); }

std::string stack_of(const std::string& path) { return path.substr(0, path.find('/')); }
bool is_stack(const std::string& name) { return name == "dense_layers" || name == "layers"; }

/// Layers in the order in which they are computed; empty where the stacks do not tell it.
std::vector<Place> places_of(const tree::Tree& params) {
  std::map<std::string, std::int64_t> lengths;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const std::string stack = stack_of(params.names()[i]);
    if (stack.find("layers") != std::string::npos && stack != "mtp_layers")
      lengths[stack] = params.value(i).shape(0);
  }
  std::vector<Place> out;
  for (const auto& [stack, length] : lengths) {  // "dense_layers" stands before "layers"
    if (!is_stack(stack)) return {};
    for (std::int64_t i = 0; i < length; ++i) out.push_back({stack, i});
  }
  return out;
}

bool is_feed_forward(const std::string& path) {
  if (path.find("attention") != std::string::npos) return false;
  for (const char* part : {"mlp", "/gate", "/up", "/down", "expert", "router"})
    if (path.find(part) != std::string::npos) return true;
  return false;
}

/// The weights with 0 in the layers behind `last` (those of its stack from there on, and of the
/// stacks behind), and in the feed-forward part of `last` if so asked.
tree::Tree cut(const tree::Tree& params, const Place& last, bool attention_alone) {
  return params.map([&](const tree::Entry& e, const Array& w) {
    const std::string stack = stack_of(e.name);
    if (!is_stack(stack)) return w;
    if (stack > last.stack) return zeros_like(w);  // "layers" behind "dense_layers"
    if (stack < last.stack) return w;
    const bool goes = attention_alone && is_feed_forward(e.name);
    const std::int64_t from = last.at + (goes ? 0 : 1), to = w.shape(0);
    if (from >= to) return w;
    if (from == 0) return zeros_like(w);
    return concatenate({w[{slice(0, from)}], zeros_like(w[{slice(from, to)}])}, 0);
  });
}

/// Parts of a batch, as a step takes them.
std::vector<Batch> parts_of(const Batch& batch, std::int64_t parts) {
  std::vector<Batch> out;
  const std::int64_t rows = batch.tokens.shape(0) / std::max<std::int64_t>(parts, 1);
  for (std::int64_t i = 0; i < parts; ++i)
    out.push_back(
        tree::map([&](const Array& x) { return x[{slice(i * rows, (i + 1) * rows)}]; }, batch));
  return out;
}

std::string bad_weight(const tree::Tree& params, const std::vector<Place>& layers) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Array& w = params.value(i);
    if (all_finite(w)) continue;
    const std::string path = params.names()[i];
    if (layers.empty() || !is_stack(stack_of(path)))
      return fmt::format("{} is not finite before the step", path);
    for (std::int64_t l = 0; l < w.shape(0); ++l)
      if (!all_finite(w[{l}]))
        return fmt::format("{} of layer {} is not finite before the step", path, l);
  }
  return {};
}

std::string bad_activations(const tree::Tree& params, const Batch& batch,
                            const model::ModelPtr& model, const StepOptions& options,
                            const std::vector<Place>& layers) {
  const Eval eval = make_eval(model);
  for (const Batch& part : parts_of(batch, options.micro_batches)) {
    const auto finite = [&](const tree::Tree& p) {
      return std::isfinite(eval(p, part).first.item<float>());
    };
    if (finite(params)) continue;
    if (layers.empty()) return "the activations are not finite";
    // Layers up to `good` are finite, up to `bad` they are not.
    std::int64_t good = -1, bad = std::ssize(layers) - 1;
    while (bad - good > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (finite(cut(params, layers[static_cast<std::size_t>(middle)], false)) ? good : bad) = middle;
    }
    const Place& first = layers[static_cast<std::size_t>(bad)];
    const char* where = finite(cut(params, first, true)) ? "feed-forward part" : "attention";
    return fmt::format(
        "the activations of layer {} of {} are the first that are not finite, in its {}", bad,
        layers.size(), where);
  }
  return {};
}

/// Gradients in the order in which they are computed: behind the layers, then from the last layer
/// to the first one, then ahead of them.
std::string bad_gradient(const State& state, const Batch& batch, const model::ModelPtr& model,
                         const StepOptions& options, const std::optional<tree::Filter>& frozen,
                         const std::vector<Place>& layers) {
  const auto gradients_of =
      jit([&](const tree::Tree& p,
              const Batch& b) { return loss_and_gradients(p, b, model, options, frozen).second; },
          {.name = "gradients"});
  const tree::Tree gradients = gradients_of(state.params, batch);
  const auto told = [](const std::string& path, const std::string& of) {
    return fmt::format(
        "going back from the loss, the gradient of {}{} is the first that is not finite", path, of);
  };
  std::string first;
  std::vector<std::size_t> stacked;  // the last part of a layer first
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (all_finite(gradients.value(i))) continue;
    const std::string path = gradients.names()[i];
    const bool behind = path.starts_with("logits") || path.starts_with("final_norm") ||
                        path.starts_with("decoder_norm");
    if (behind) return told(path, "");
    if (first.empty()) first = path;
    if (!layers.empty() && is_stack(stack_of(path))) stacked.insert(stacked.begin(), i);
  }
  for (auto place = layers.rbegin(); place != layers.rend(); ++place)
    for (const std::size_t i : stacked)
      if (stack_of(gradients.names()[i]) == place->stack &&
          !all_finite(gradients.value(i)[{place->at}]))
        return told(gradients.names()[i], fmt::format(" of layer {}", layers.rend() - place - 1));
  return first.empty() ? "" : told(first, "");
}

}  // namespace

std::string first_trouble(const State& state, const Batch& batch, const model::ModelPtr& model,
                          const StepOptions& options, const std::optional<tree::Filter>& frozen) {
  const std::vector<Place> layers = places_of(state.params);
  if (std::string out = bad_weight(state.params, layers); !out.empty()) return out;
  if (std::string out = bad_activations(state.params, batch, model, options, layers); !out.empty())
    return out;
  return bad_gradient(state, batch, model, options, frozen, layers);
}

}  // namespace strata::train
