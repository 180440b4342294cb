#include "strata/model/published/gguf_source.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace strata::model::published {

using checkpoint::Gguf;
using checkpoint::GgufTensor;
using checkpoint::GgufValue;

namespace {

class GgufSource : public TensorSource {
 public:
  GgufSource(const Gguf& file, std::string name) : file_(file), name_(std::move(name)) {
    for (const GgufTensor& t : file_.tensors()) shapes_[t.name] = t.shape;
    join_latent_parts();
  }
  Convention convention() const override { return Convention::gguf; }
  const std::map<std::string, std::vector<std::int64_t>>& shapes() const override {
    return shapes_;
  }
  Result<Literal> read(const std::string& name) const override {
    if (const auto parts = latent_.find(name); parts != latent_.end()) return joined(parts->second);
    return numbers_of(name);
  }
  std::optional<BlockFormat> packed(const std::string& name) const override {
    const GgufTensor* t = file_.tensor(name);
    return t == nullptr ? std::nullopt : t->type.block();
  }
  Result<Literal> read_packed(const std::string& name) const override {
    const GgufTensor* t = file_.tensor(name);
    if (!t) return Status(Code::not_found, "{}: there is no tensor '{}'", name_, name);
    return file_.bytes_of(*t);
  }
  const std::string& name() const override { return name_; }

 private:
  Result<Literal> numbers_of(const std::string& name) const {
    const GgufTensor* t = file_.tensor(name);
    if (!t) return Status(Code::not_found, "{}: there is no tensor '{}'", name_, name);
    Result<Literal> out = file_.numbers_of(*t);
    file_.release(*t);
    return out;
  }

  /// Newer files of latent attention have the product of keys, (H, r, n), and that of values, (H,
  /// v, r), apart. Shown is one matrix attn_kv_b, rows of each head's keys and then of its values.
  void join_latent_parts() {
    const std::string key = ".attn_k_b.weight";
    for (const GgufTensor& t : file_.tensors()) {
      if (!t.name.ends_with(key)) continue;
      const std::string layer = t.name.substr(0, t.name.size() - key.size());
      const GgufTensor* values = file_.tensor(layer + ".attn_v_b.weight");
      if (!values || t.shape.size() != 3 || values->shape.size() != 3 ||
          values->shape[0] != t.shape[0] || values->shape[2] != t.shape[1])
        continue;
      const std::string name = layer + ".attn_kv_b.weight";
      shapes_.erase(t.name);
      shapes_.erase(values->name);
      shapes_[name] = {t.shape[0] * (t.shape[2] + values->shape[1]), t.shape[1]};
      latent_[name] = {t.name, values->name};
    }
  }
  Result<Literal> joined(const std::pair<std::string, std::string>& parts) const {
    const Result<Literal> keys = numbers_of(parts.first), values = numbers_of(parts.second);
    if (!keys) return keys.status();
    if (!values) return values.status();
    const std::int64_t heads = keys->shape()[0], rank = keys->shape()[1],
                       key_rows = keys->shape()[2], value_rows = values->shape()[1];
    Literal out(Type(DType::f32, Shape({heads * (key_rows + value_rows), rank})));
    auto* to = reinterpret_cast<float*>(out.mutable_data());
    std::int64_t key = 0, value = 0;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t r = 0; r < rank; ++r)
        for (std::int64_t n = 0; n < key_rows; ++n)
          to[n * rank + r] = static_cast<float>(keys->number(key++));
      to += key_rows * rank;
      for (std::int64_t i = 0; i < value_rows * rank; ++i)
        *to++ = static_cast<float>(values->number(value++));
    }
    return out;
  }

  Gguf file_;
  std::string name_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
  /// Names of the parts of tensors that are shown as one.
  std::map<std::string, std::pair<std::string, std::string>> latent_;
};

template <class T>
nlohmann::json as_json(const T& x) {
  // The shortest decimal of an f32, not of the f64 that it widens to.
  if constexpr (std::is_same_v<T, float>)
    return std::isfinite(x) ? nlohmann::json::parse(fmt::format("{}", x), nullptr, false)
                            : nlohmann::json(nullptr);
  else
    return nlohmann::json(x);
}

bool has(const Gguf& file, const char* name) { return file.tensor(name) != nullptr; }

}  // namespace

std::string json_of(const GgufValue& value) {
  return std::visit(
      [](const auto& x) {
        nlohmann::json out;
        if constexpr (requires { x.push_back(x[0]); } && !requires { x.c_str(); }) {
          out = nlohmann::json::array();
          for (typename std::decay_t<decltype(x)>::value_type each : x)
            out.push_back(as_json(each));
        } else {
          out = as_json(x);
        }
        return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      },
      value);
}

TensorSourcePtr source_of(const Gguf& file, const std::string& name) {
  return std::make_shared<GgufSource>(file, name);
}

Result<GgufModel> open_gguf(const std::string& path) {
  Result<Gguf> file = Gguf::open(path);
  if (!file) return file.status();
  if (const auto type = file->text("general.type"); type && *type != "model")
    return Status(Code::unsupported, "{}: this is {}, no model", path, *type);
  Result<GgufMetadata> metadata = metadata_of(*file);
  if (!metadata) return metadata.status();
  return GgufModel{std::move(*metadata), source_of(*file, path)};
}

Result<GgufMetadata> metadata_of(const Gguf& file) {
  GgufMetadata out;
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("tokenizer.")) continue;
    if (const auto number = checkpoint::as_number(value); number && !std::isfinite(*number))
      return Status(Code::corrupt, "{} is no finite number", key);
    out.values[key] = json_of(value);
  }
  if (const GgufTensor* t = file.tensor("token_embd.weight")) out.embedding_shape = t->shape;
  out.has_output = has(file, "output.weight");
  out.query_bias = has(file, "blk.0.attn_q.bias");
  out.out_bias = has(file, "blk.0.attn_output.bias");
  out.mlp_bias = has(file, "blk.0.ffn_up.bias");
  const std::pair<const char*, std::vector<double>*> factors[] = {
      {"rope_freqs.weight", &out.rope_divisors},
      {"rope_factors_long.weight", &out.long_factors},
      {"rope_factors_short.weight", &out.short_factors}};
  for (const auto& [name, list] : factors) {
    const GgufTensor* t = file.tensor(name);
    if (!t) continue;
    const Result<Literal> numbers = file.numbers_of(*t);
    if (!numbers) return numbers.status();
    for (float x : numbers->span<float>()) list->push_back(static_cast<double>(x));
  }
  return out;
}

}  // namespace strata::model::published
