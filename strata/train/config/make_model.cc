#include "strata/train/config/make_model.h"

#include <fmt/format.h>

#include "strata/model/pretrained.h"
#include "strata/model/registry.h"

namespace strata::train {

model::ModelPtr make_model(const Config& c) {
  if (!c.init.empty())
    throw ConfigError(fmt::format(
        "init={}: the weights of a published model come with it; `strata generate --model RUN` and "
        "`strata evaluate --model RUN --perplexity TEXT` read what a run made of it",
        c.init));
  if (c.mtp_num_layers == 0) return model::make(c.decoder_block, c.model);
  if (c.decoder_block != "published")
    throw ConfigError(fmt::format(
        "mtp_num_layers={}: decoder_block={} has none; those of decoder_block=published can",
        c.mtp_num_layers, c.decoder_block));
  model::Settings settings = c.model;
  const model::Family& family = model::family(c.decoder_block);
  settings["config"] =
      model::with_further_layers(model::text(family, settings, "config"), c.mtp_num_layers);
  return model::make(c.decoder_block, settings);
}

}  // namespace strata::train
