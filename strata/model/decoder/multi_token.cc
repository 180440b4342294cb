#include "strata/model/decoder/multi_token.h"

#include <functional>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/pipeline.h"
#include "strata/model/decoder/stack.h"
#include "strata/model/z_loss.h"

namespace strata::model::decoder {

namespace {

/// Each row one place to the left, zeros behind it.
Array shifted(const Array& x) {
  return concatenate({x[{slice(), slice(1, x.shape(1))}], zeros({x.shape(0), 1}, x.dtype())}, 1);
}
/// The same where a document ends with its last place.
Array shifted(const Array& x, const std::optional<Array>& segments) {
  const Array next = shifted(x);
  if (!segments) return next;
  const Array ends =
      logical_or(not_equal(*segments, shifted(*segments)), equal(*segments, zeros_like(*segments)));
  return where(ends, zeros_like(next), next);
}

/// What a further layer reads and predicts. Segments stay where they are, so that a target is as
/// far away as its layer looks ahead, and of the same document.
struct Ahead {
  Array tokens, targets, weights;
  std::optional<Array> segments;
  /// One place on.
  Ahead next() const {
    const auto on = [&](const Array& x) { return shifted(x, segments); };
    return {on(tokens), on(targets), on(weights), segments};
  }
};

Array or_ones(const std::optional<Array>& weights, const Array& like) {
  return weights ? astype(*weights, DType::f32) : ones(like.shape().sizes(), DType::f32);
}

/// A model of one layer that computes what the last one does.
Options one_layer(const Options& o) {
  Options out = o;
  out.layers = 1, out.mtp_layers = 0;
  out.experts.dense_layers = 0;
  const auto keep_last = [](auto& list) {
    if (!list.empty()) list.erase(list.begin(), list.end() - 1);
  };
  keep_last(out.windows), keep_last(out.rope_of_layer), keep_last(out.layer_scales);
  return out;
}

/// Layer `k` of the stack, whose leaves keep a leading axis of 1.
FurtherLayer of_stack(FurtherLayer stack, std::int64_t k) {
  const Layer layers =
      tree::map([&](const Array& x) { return x[{slice(k, k + 1)}]; }, stack.layers);
  FurtherLayer out = tree::map([&](const Array& x) { return x[k]; }, std::move(stack));
  out.layers = layers;
  return out;
}

/// One model's weights and what it reads.
class Reading {
 public:
  Reading(const Options& o, const tree::Tree& params, const Model& model, const Array& tokens,
          const std::optional<DocumentsInRows>& packed)
      : o_(o),
        w_(weights_of(o, model.cast(params, o.dtype))),
        positions_(packed ? packed->positions : expand_dims(arange(tokens.shape(-1)), 0)),
        segments_(packed ? std::optional(packed->segments) : std::nullopt),
        length_(o.max_length > 0 ? o.max_length : tokens.shape(-1)) {}

  /// Through the model's own layers, without the final norm.
  Array main(const Array& tokens, const std::optional<RouterAsk>& ask,
             std::optional<RouterSums>& sums) const {
    Weights bare = w_;
    bare.final_norm.reset();
    return through(bare, o_, embed(w_, o_, tokens, positions_).x, ask, 0, o_.layers, sums);
  }
  /// Logits of what `main` gave.
  Array logits(const Array& h) const {
    return logits_of(w_, o_, w_.final_norm ? (*w_.final_norm)(h, o_.norm, o_.epsilon) : h);
  }
  /// Calls f(k, logits, ahead) for each further layer k = 1, 2, ... up to `last`.
  void further(Array h, Ahead ahead, std::int64_t last, const std::optional<RouterAsk>& ask,
               std::optional<RouterSums>& sums,
               const std::function<void(std::int64_t, const Array&, const Ahead&)>& f) const {
    const NoPipelineScope unstaged;
    const Options one = one_layer(o_);
    for (std::int64_t k = 1; k <= last; ++k) {
      ahead = ahead.next();
      const FurtherLayer own = of_stack(*w_.mtp_layers, k - 1);
      const auto normed = [&](const Norm& norm, const Array& x) {
        return norm(x, o_.norm, o_.epsilon);
      };
      const Array e = embed(w_, o_, ahead.tokens, positions_).x;
      const Array both =
          concatenate({normed(own.embedding_norm, e), normed(own.hidden_norm, h)}, -1);
      Weights layer;
      layer.layers = own.layers;
      h = through(layer, one, own.projection(both), ask, o_.layers + k - 1, 1, sums);
      f(k, logits_of(w_, o_, normed(own.final_norm, h)), ahead);
    }
  }

 private:
  Array through(const Weights& w, const Options& o, const Array& x,
                const std::optional<RouterAsk>& ask, std::int64_t first, std::int64_t count,
                std::optional<RouterSums>& sums) const {
    const auto attending = [](const Heads& h, const AttendOptions& how) {
      return attend(h.query, h.key, h.value, how);
    };
    if (!ask) return run_layers(w, o, x, positions_, length_, attending, segments_);
    RouterAsk own = *ask;
    if (own.fractions) own.fractions = (*own.fractions)[{slice(first, first + count)}];
    auto [y, here] = run_layers(w, o, x, positions_, length_, attending, own, segments_);
    if (!sums) {
      sums = std::move(here);
      return y;
    }
    sums = RouterSums{sums->balance + here.balance, sums->router_z + here.router_z,
                      concatenate({sums->chosen, here.chosen}, 0),
                      concatenate({sums->dropped, here.dropped}, 0)};
    return y;
  }

  const Options& o_;
  Weights w_;
  Array positions_;
  std::optional<Array> segments_;
  std::int64_t length_;
};

const Options& decoder_of(const Model& model) {
  const Options* o = options_of(model);
  if (!o) throw Error(model.family(), "the model is no decoder of this library's");
  return *o;
}

}  // namespace

std::int64_t further_layers(const Model& model) {
  const Options* o = options_of(model);
  return o ? o->mtp_layers : 0;
}

Array further_count(const Array& weights, const std::optional<Array>& segments,
                    std::int64_t layers) {
  Array out = zeros({});
  Ahead ahead{weights, weights, astype(weights, DType::f32), segments};
  for (std::int64_t k = 0; k < layers; ++k) {
    ahead = ahead.next();
    out = out + sum(ahead.weights);
  }
  return out;
}

MultiTokenLosses multi_token_losses(const Model& model, const tree::Tree& params,
                                    const Array& tokens, const Array& targets,
                                    const std::optional<DocumentsInRows>& packed,
                                    const std::optional<Array>& weights,
                                    const std::optional<RouterAsk>& ask) {
  const Options& o = decoder_of(model);
  if (ask && o.experts.count == 0) throw Error(o.family, "the model has no experts");
  const Reading reading(o, params, model, tokens, packed);
  MultiTokenLosses out;
  const Array h = reading.main(tokens, ask, out.routers);
  out.losses = cross_entropies(reading.logits(h), targets);
  if (o.mtp_layers == 0) return out;
  const Ahead here{tokens, targets, or_ones(weights, targets),
                   packed ? std::optional(packed->segments) : std::nullopt};
  out.further = zeros({}, out.losses.dtype());
  reading.further(h, here, o.mtp_layers, ask, out.routers,
                  [&](std::int64_t, const Array& logits, const Ahead& ahead) {
                    const Array own = plain_cross_entropies(logits, ahead.targets);
                    out.further = *out.further + sum(own * astype(ahead.weights, own.dtype()));
                  });
  return out;
}

std::pair<Array, Array> further_accepted(const Model& model, const tree::Tree& params,
                                         const Array& tokens, const Array& targets,
                                         const std::optional<DocumentsInRows>& packed,
                                         const std::optional<Array>& weights, std::int64_t layer) {
  const Options& o = decoder_of(model);
  if (layer < 1 || layer > o.mtp_layers)
    throw Error(o.family, "there is no further layer {} of {}", layer, o.mtp_layers);
  const Reading reading(o, params, model, tokens, packed);
  std::optional<RouterSums> none;
  const Array h = reading.main(tokens, {}, none);
  Array own = argmax(reading.logits(h), -1);
  for (std::int64_t k = 0; k < layer; ++k) own = shifted(own);
  std::pair<Array, Array> out;
  const Ahead here{tokens, targets, or_ones(weights, targets),
                   packed ? std::optional(packed->segments) : std::nullopt};
  reading.further(h, here, layer, {}, none,
                  [&](std::int64_t k, const Array& logits, const Ahead& ahead) {
                    if (k != layer) return;
                    const Array same = equal(argmax(logits, -1), own);
                    out = {sum(astype(same, DType::f32) * ahead.weights), sum(ahead.weights)};
                  });
  return out;
}

}  // namespace strata::model::decoder
