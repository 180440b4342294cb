// Where tensors come from, by name: a Hugging Face directory, a GGUF file, a map in memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/block_format.h"
#include "strata/type/literal.h"

namespace strata::model::published {

/// Tensors that are read when they are asked for.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// What the names and the layout of the tensors follow.
  enum class Convention { hugging_face, gguf };
  virtual Convention convention() const = 0;
  /// Shapes by name, matrices as (out, in).
  virtual const std::map<std::string, std::vector<std::int64_t>>& shapes() const = 0;
  /// A tensor of floating-point numbers; packed ones come dequantised, f32.
  virtual Result<Literal> read(const std::string& name) const = 0;
  /// The format of a tensor that is packed, and its blocks as the file has them, ui8 (rows, bytes
  /// of a row); nothing for others.
  virtual std::optional<BlockFormat> packed(const std::string&) const { return std::nullopt; }
  virtual Result<Literal> read_packed(const std::string& name) const { return read(name); }
  /// For messages: the folder or file.
  virtual const std::string& name() const = 0;
};
using TensorSourcePtr = std::shared_ptr<const TensorSource>;

/// A file of a folder, by its plain name; no links out of the folder but to the blobs of a cache.
/// Code::corrupt for other names.
Result<std::string> file_of(const std::string& folder, const std::string& file);
/// The snapshot of a cache's folder models--org--name that refs/main names; of the folder of a
/// training run, which has checkpoints/ and no config.json, its model/; another folder as it is.
Result<std::string> snapshot_of(const std::string& folder);
/// The tensors of model.safetensors, or of the files that model.safetensors.index.json lists, in a
/// folder. Code::not_found where there are neither (Code::unsupported where there are pickles
/// only), Code::corrupt for an index whose tensors are not where it says.
Result<TensorSourcePtr> open_directory(const std::string& folder);

}  // namespace strata::model::published
