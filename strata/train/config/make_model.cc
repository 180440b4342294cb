#include "strata/train/config/make_model.h"

#include <fmt/format.h>

#include "strata/model/registry.h"

namespace strata::train {

model::ModelPtr make_model(const Config& c) {
  if (!c.init.empty())
    throw ConfigError(fmt::format(
        "init={}: the weights of a published model come with it; `strata generate --model RUN` and "
        "`strata evaluate --model RUN --perplexity TEXT` read what a run made of it",
        c.init));
  return model::make(c.decoder_block, c.model);
}

}  // namespace strata::train
