// Safetensors files read straight into their tensors' memory.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/result.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {

/// A file of tensors, and what its bytes are.
struct ReadTensors {
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;  // of the whole file
  TensorFile file;
};

/// Reads a safetensors file once, holding the tensors and nothing more; of an object in a bucket
/// the bytes besides. Where the file has not `size` bytes, only `ReadTensors::size` is set. Codes
/// of read_safetensors; Code::io where a byte cannot be read.
///
///     auto read = checkpoint::read_tensors("run/checkpoints/7/params.safetensors", entry.bytes);
Result<ReadTensors> read_tensors(const std::string& path, std::uint64_t size);

}  // namespace strata::checkpoint
