#include "strata/model/mistral/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "mistral");
  o.ropes = {rope_of(c, o.head_dim)};
  // null says that there is none; a file that says nothing has the family's 4096.
  const std::int64_t window = c.integer("sliding_window", c.names("sliding_window") ? 0 : 4096);
  if (window > 0) o.windows = std::vector<std::int64_t>(static_cast<std::size_t>(o.layers), window);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, true); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "mistral"); }

}  // namespace

Family mistral() {
  // GGUF files of Mistral say llama.
  return {"mistral", "llama", "Mistral: Llama whose tokens see a window of keys",
          &options,  &names,  &from_gguf};
}

}  // namespace strata::model::published
