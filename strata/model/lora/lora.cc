#include "strata/model/lora/lora.h"

#include "strata/api/numpy.h"
#include "strata/api/packed.h"
#include "strata/api/random.h"
#include "strata/base/error.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/nn/variable.h"

namespace strata::model::lora {

using decoder::Options;
using decoder::WeightKind;
using Sizes = std::vector<std::int64_t>;

namespace {

const Options& options_of(const Model& model) {
  const Options* found = decoder::options_of(model);
  if (!found)
    throw Error("lora", "adapters stand beside the weights of published decoders; {} is none",
                model.family())
        .unsupported();
  return *found;
}

std::string matrix_of(const std::string& module) { return module + "/kernel"; }

/// The weights of a model in the order of its tree, each by `make`.
tree::Tree tree_of(const Options& options, const decoder::WeightMaker& make) {
  return tree::of(decoder::make_weights(options, make)).with_metadata([](const tree::Entry& e) {
    return decoder::logical_axes(e.name);
  });
}

/// scale A B of a module, f32 (..., I, O).
Array update_of(const tree::Tree& params, const std::string& module,
                const decoder::AdapterOptions& adapter) {
  const auto wide = [&](const char* leaf) {
    return astype(params[module + "/lora/" + leaf], DType::f32);
  };
  return matmul(wide("a"), wide("b")) * adapter.scale();
}

}  // namespace

ModelPtr with_adapters(
    const ModelPtr& base,
    const std::map<std::string, decoder::AdapterOptions, std::less<>>& adapters) {
  Options o = options_of(*base);
  if (!o.adapters.empty()) throw Error("lora", "{}", "the model has adapters already");
  o.adapters = adapters;
  return decoder::model(o);
}

ModelPtr with_adapters(const ModelPtr& base, const LoraOptions& options) {
  return with_adapters(base, select(options_of(*base), options));
}

tree::Tree add_adapters(const ModelPtr& adapted, const tree::Tree& base, const Array& key) {
  const Options& o = options_of(*adapted);
  const Array keys =
      random::split(key, std::max<std::int64_t>(static_cast<std::int64_t>(o.adapters.size()), 1));
  std::int64_t next = 0;
  return tree_of(o, [&](std::string_view path, const Sizes& shape, WeightKind kind) -> Array {
    if (kind == WeightKind::adapter_b) return zeros(shape);
    if (kind != WeightKind::adapter_a) return base[path];
    const std::string_view module = path.substr(0, path.size() - 7);  // "/lora/a"
    return decoder::first_adapter_a(o.adapters.find(module)->second, keys[next++], shape);
  });
}

tree::Filter adapters() { return tree::of_kind(nn::LoRAParamKind::kind); }

bool has_adapters(const Model& model) {
  const Options* o = decoder::options_of(model);
  return o && !o->adapters.empty();
}

Adapted base_of(const ModelPtr& adapted, const tree::Tree& params) {
  Options o = options_of(*adapted);
  o.adapters.clear();
  return {decoder::model(o), params.filter(!adapters())};
}

Adapted merged(const ModelPtr& adapted, const tree::Tree& params, const MergeOptions& options) {
  if (options.unpacked != DType::f32 && options.unpacked != DType::bf16)
    throw Error("lora", "merged weights are f32 or bf16, got {}", name(options.unpacked));
  const Options& given = options_of(*adapted);
  Options o = given;
  o.adapters.clear();
  std::map<std::string, Array, std::less<>> made;
  for (const auto& [module, adapter] : given.adapters) {
    const std::string path = matrix_of(module);
    const Array update = update_of(params, module, adapter);
    const auto packed = o.packed.find(path);
    if (packed == o.packed.end()) {
      const Array& w = params[path];
      made[path] = astype(astype(w, DType::f32) + update, w.dtype());
      continue;
    }
    const BlockFormat format = packed->second;
    const Array whole =
        unpack(Packed{params[path], format}) + swapaxes(update, -1, -2);  // (..., O, I)
    if (options.packed) {
      made[path] = pack(whole, format).blocks;
    } else {
      made[path] = astype(swapaxes(whole, -1, -2), options.unpacked);
      o.packed.erase(path);
    }
  }
  tree::Tree out = tree_of(o, [&](std::string_view path, const Sizes&, WeightKind) {
    const auto it = made.find(path);
    return it == made.end() ? params[path] : it->second;
  });
  return {decoder::model(o), std::move(out)};
}

}  // namespace strata::model::lora
