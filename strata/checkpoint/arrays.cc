#include "strata/checkpoint/arrays.h"

#include <utility>

#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {

Status save_file(const std::map<std::string, Array>& tensors, const std::string& filename,
                 const std::map<std::string, std::string>& metadata) {
  TensorFile file{.tensors = {}, .metadata = metadata};
  for (const auto& [name, array] : tensors) file.tensors.emplace(name, array.literal());
  return write_safetensors(filename, file);
}

Result<std::map<std::string, Array>> load_file(const std::string& filename) {
  auto file = read_safetensors(filename);
  if (!file) return file.status();
  std::map<std::string, Array> out;
  for (auto& [name, literal] : file->tensors)
    out.emplace(name, internal::array_of(literal, {}, {}, Where()));
  return out;
}

}  // namespace strata::checkpoint
