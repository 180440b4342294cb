#include "strata/model/pretrained_gguf.h"

#include "strata/checkpoint/gguf.h"
#include "strata/model/published/gguf_source.h"

namespace strata::model {

Result<Pretrained> load_gguf(const std::string& path, const LoadOptions& options) {
  const auto file = checkpoint::Gguf::open(path);
  if (!file) return file.status();
  const auto type = file->text("general.type");
  if (type && *type != "model")
    return Status(Code::unsupported, "{}: the file is no model but of general.type '{}'", path,
                  *type);
  const auto metadata = published::metadata_of(*file);
  if (!metadata) return metadata.status();
  const auto config = config_of(*metadata);
  if (!config) return config.status();
  return load(*config, *published::source_of(*file, path), options);
}

}  // namespace strata::model
