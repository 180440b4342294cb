#include "strata/train/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/data/conversations.h"
#include "strata/model/decoder/model.h"

namespace strata::train {
namespace {

namespace decoder = model::decoder;

std::int64_t stages_of(const Config& c) {
  return std::max<std::int64_t>(c.ici_pipeline_parallelism, 1) *
         std::max<std::int64_t>(c.dcn_pipeline_parallelism, 1);
}

std::int64_t layers_of(const model::Model& model) {
  if (const decoder::Options* o = decoder::options_of(model)) return o->layers;
  const tree::Tree types =
      eval_shape([&](const Array& key) { return model.init(key); }, random::key(0));
  for (std::size_t i = 0; i < types.entries().size(); ++i)
    if (types.entry(i).name.starts_with("layers")) return types.value(i).shape(0);
  return 0;
}

void check_model(const Config& c, const decoder::Options* o, const std::string& keys,
                 const model::Model& model) {
  const char* what = nullptr;
  if (o == nullptr && model.family() != "llama2")
    what = "a model that is no stack of decoder layers";
  if (o && (!o->delta.layers.empty() || !o->full.layers.empty() || o->experts.dense_layers > 0 ||
            !o->experts.dense_at.empty()))
    what = "layers of several kinds";
  if (o == nullptr && c.packing && data::names_conversations(c.train_data_columns))
    what = "packing=true of conversations";
  if (what != nullptr)
    throw ConfigError(
        fmt::format("{}: {} ({}) as a pipeline is not supported yet", keys, what, model.family()));
}

}  // namespace

std::optional<decoder::Pipeline> pipeline_of(const Config& c, const model::Model& model) {
  const std::int64_t stages = stages_of(c);
  if (stages == 1) return {};
  const std::string keys = fmt::format("ici_pipeline_parallelism={} x dcn_pipeline_parallelism={}",
                                       c.ici_pipeline_parallelism, c.dcn_pipeline_parallelism);
  const decoder::Options* o = decoder::options_of(model);
  check_model(c, o, keys, model);
  const std::int64_t layers = layers_of(model), each = c.num_layers_per_pipeline_stage;
  if (c.pipeline_parallel_layers != -1 && c.pipeline_parallel_layers != layers)
    throw ConfigError(fmt::format(
        "pipeline_parallel_layers={}: layers outside of stages are not supported yet; the model "
        "has {}",
        c.pipeline_parallel_layers, layers));
  decoder::Pipeline out{stages, each, c.num_pipeline_repeats, c.num_pipeline_microbatches};
  if (out.repeats == -1) out.repeats = std::max<std::int64_t>(layers / (stages * each), 1);
  if (out.microbatches == -1) out.microbatches = stages;
  if (out.layers() != layers)
    throw ConfigError(fmt::format(
        "{}: {} stages x num_layers_per_pipeline_stage={} x {} repeats (num_pipeline_repeats={}) "
        "are {} layers, and the model has {}",
        keys, stages, each, out.repeats, c.num_pipeline_repeats, out.layers(), layers));
  if (out.microbatches < 1 || out.microbatches % stages != 0)
    throw ConfigError(fmt::format("num_pipeline_microbatches={}: it is no multiple of {} stages",
                                  out.microbatches, stages));
  const std::int64_t at_once = sequences(c) / c.gradient_accumulation_steps;
  if (at_once % out.microbatches != 0)
    throw ConfigError(
        fmt::format("num_pipeline_microbatches={}: {} sequences do not divide into so many",
                    out.microbatches, at_once));
  return out;
}

std::string pipeline_text(const decoder::Pipeline& p) {
  const auto counted = [](std::int64_t n, const char* thing) {
    return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
  };
  return fmt::format(
      "pipeline: {} of {}, {}, {}; bubble {:.1f} %", counted(p.stages, "stage"),
      counted(p.layers_per_stage, "layer"), counted(p.repeats, "repeat"),
      fmt::format("{} microbatch{}", p.microbatches, p.microbatches == 1 ? "" : "es"),
      100 * p.bubble());
}

}  // namespace strata::train
