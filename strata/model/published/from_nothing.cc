#include "strata/model/published/from_nothing.h"

#include "strata/base/error.h"
#include "strata/model/decoder/model.h"
#include "strata/model/published/family.h"

namespace strata::model::published {
namespace {

/// Small enough to be read at a glance; what a person trains states its own.
constexpr std::string_view kSmall =
    R"({"model_type": "llama", "vocab_size": 256, "hidden_size": 192, "intermediate_size": 512, )"
    R"("num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 3, )"
    R"("rms_norm_eps": 1e-05})";

std::vector<model::Key> keys() {
  using enum model::Key::Type;
  return {
      {"config", text, "a config.json's text: model_type and the sizes of that family", kSmall},
      {"dtype",
       text,
       "type of activations and products",
       "float32",
       0,
       0,
       {"float32", "bfloat16"},
       false},
      {"remat_policy",
       text,
       "what backward keeps of a layer: full_save (all) to full (nothing), or names:TENSOR,TENSOR",
       "full_save",
       0,
       0,
       {},
       false},
  };
}

}  // namespace

model::Family from_nothing() {
  model::Family out{"published",
                    "the architecture of a published model, by its config.json, from first weights",
                    keys(),
                    {}};
  const model::Family described = out;
  out.make = [described](const model::Settings& s) {
    const Config config = Config::parse(model::text(described, s, "config"));
    decoder::Options o = family(config.text("model_type")).options(config);
    if (!o.has_logits)
      throw Error("published", "model_type={}: an encoder predicts no tokens", o.family);
    o.dtype = model::text(described, s, "dtype") == "bfloat16" ? DType::bf16 : DType::f32;
    o.remat_policy = model::text(described, s, "remat_policy");
    return decoder::model(o);
  };
  return out;
}

}  // namespace strata::model::published
