#include "strata/model/convert/maxtext.h"

#include <filesystem>

#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/target.h"
#include "strata/model/convert/pairs.h"
#include "strata/model/maxtext/checkpoint.h"
#include "strata/model/pretrained.h"

namespace strata::model::conversion {
namespace {

namespace fs = std::filesystem;

std::string type_name(DType dtype) { return dtype == DType::bf16 ? "BF16" : "F32"; }

/// A row for each array of MaxText's; `written`: it is what is written.
void add_rows(const maxtext::Arrays& arrays, bool written, Conversion& out) {
  for (const auto& [name, value] : arrays) {
    ConvertedTensor row;
    (written ? row.to : row.from) = maxtext::kParams + name;
    (written ? row.to_shape : row.from_shape) = value.shape().sizes();
    (written ? row.to_type : row.from_type) = type_name(value.dtype());
    out.tensors.push_back(std::move(row));
    out.bytes += static_cast<std::uint64_t>(value.bytes());
  }
}

DType type_named(const std::string& type) {
  if (type != "F32" && type != "BF16")
    throw Error("convert", "weights from and to MaxText are F32 or BF16, not {}", type);
  return type == "BF16" ? DType::bf16 : DType::f32;
}

/// The weights in the type that is asked for; as they are where none is.
tree::Tree typed(const tree::Tree& params, const std::string& type) {
  if (type.empty()) return params;
  const DType dtype = type_named(type);
  return params.map([&](const Array& w) { return astype(w, dtype); });
}

}  // namespace

Status maxtext_to_directory(const std::string& from, const std::string& to,
                            const ConvertOptions& options, Conversion& out) {
  if (options.config.empty())
    throw Error("convert",
                "{}: MaxText's checkpoints do not say what model they are of; name a config.json, "
                "or the directory of one, by --config",
                from);
  std::error_code error;
  const bool folder = fs::is_directory(options.config, error);
  auto config = read_file(folder ? options.config + "/config.json" : options.config);
  if (!config) return config.status();
  const auto saved = maxtext::open_checkpoint(from);
  if (!saved) return saved.status();
  const std::int64_t further =
      maxtext::further_layers(maxtext::arrays_below(*saved, maxtext::kParams));
  if (further > 0) {
    *config = with_further_layers(*config, further);
    if (!published::is_published(described(*config).names, "mtp_layers/projection/kernel"))
      out.notes.push_back("layers that predict further tokens (mtp_block) are left out");
  }
  auto params = maxtext::params_of(*saved, described(*config).options, options.scan_axis);
  if (!params) return params.status();
  add_rows(maxtext::arrays_below(*saved, maxtext::kParams), false, out);
  for (const auto& [name, value] : maxtext::arrays_below(*saved, ""))
    if (!name.starts_with(maxtext::kParams)) {
      out.notes.push_back("what is no weight (opt_state, step) is left out");
      break;
    }
  out.files = {to + "/model.safetensors", to + "/config.json"};
  std::map<std::string, std::string> none;
  auto files = folder ? files_beside_weights(options.config)
                      : Result<std::map<std::string, std::string>>(std::move(none));
  if (!files) return files.status();
  files->erase("config.json");
  for (const auto& [name, bytes] : *files) out.files.push_back(to + "/" + name);
  if (options.dry_run) return {};
  if (Status s = save_pretrained(to, *config, typed(*params, options.type)); !s.ok()) return s;
  for (const auto& [name, bytes] : *files)
    if (Status s = write_file_atomic(to + "/" + name, bytes); !s.ok()) return s;
  return {};
}

Status to_maxtext(const std::string& from, const std::string& to, const ConvertOptions& options,
                  Conversion& out) {
  if (Status s = checkpoint::check_target(to); !s.ok()) return s;
  const DType weights = options.type.empty() ? DType::f32 : type_named(options.type);
  const auto loaded = load(from, {.weights = weights, .adapter = options.adapter});
  if (!loaded) return loaded.status();
  if (!options.adapter.empty())
    throw Error("convert", "an adapter is merged into a directory first, which becomes MaxText's");
  const decoder::Options model = described(plain_config(loaded->config)).options;
  const maxtext::Layout layout{.scanned = options.scan_layers, .scan_axis = options.scan_axis};
  const tree::Tree& params = loaded->params;
  add_rows(maxtext::to_maxtext(model, params, layout), true, out);
  out.notes.push_back("the tokenizer stays where it is: MaxText takes it by tokenizer_path");
  out.files = {to};
  return options.dry_run ? Status() : maxtext::write_params(to, params, model, layout);
}

}  // namespace strata::model::conversion
