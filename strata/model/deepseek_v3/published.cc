#include "strata/model/deepseek_v3/published.h"

#include "strata/base/error.h"
#include "strata/model/deepseek_v2/published.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) { return deepseek_v3_options(c, "deepseek_v3"); }

std::string from_gguf(const GgufMetadata& m) { return deepseek_config(m, "deepseek_v3", "{}"); }

}  // namespace

decoder::Options deepseek_v3_options(const Config& c, std::string_view model_type) {
  decoder::Options o = deepseek_options(c, model_type);
  require_text(c, "scoring_func", "sigmoid");
  require_text(c, "topk_method", "noaux_tc");
  o.experts.score = decoder::RouterScore::sigmoid;
  o.experts.choice_bias = true;
  o.experts.renormalise = c.flag("norm_topk_prob", true);
  o.experts.scaling = c.number("routed_scaling_factor", 2.5);
  o.experts.groups = c.integer("n_group", 1);
  o.experts.active_groups = c.integer("topk_group", 1);
  o.experts.group_score_of = 2;
  return o;
}

Family deepseek_v3() {
  return {"deepseek_v3",
          "deepseek2",
          "DeepSeek V3: V2 whose gate scores by sigmoid and chooses with a bias",
          &options,
          &deepseek_names,
          &from_gguf};
}

}  // namespace strata::model::published
