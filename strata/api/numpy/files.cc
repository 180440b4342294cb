#include "strata/api/numpy/files.h"

#include <algorithm>
#include <cstring>

#include "strata/api/trace/compose.h"
#include "strata/base/file.h"
#include "strata/type/npy.h"

namespace strata::numpy {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;

/// Elements in the dtype that arrays have without x64.
Array canonical_array(Literal literal) {
  return internal::array_of(std::move(literal), {}, {}, Where());
}

Array elements_of(std::span<const std::byte> bytes, DType dtype, std::int64_t count) {
  Literal out(Type(dtype, Shape::of({count})));
  if (out.bytes() > 0) std::memcpy(out.mutable_data(), bytes.data(), out.bytes());
  if (dtype == DType::i1)
    std::transform(out.data(), out.data() + out.bytes(), out.mutable_data(),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  return canonical_array(std::move(out));
}

void require_storage(const char* name, DType dtype) {
  if (!has_storage(dtype)) fail(name, "there are no elements of {} in memory", strata::name(dtype));
}

std::string with_ending(std::string file, const char* ending) {
  if (!file.ends_with(ending)) file += ending;
  return file;
}

}  // namespace

Array frombuffer(std::span<const std::byte> buffer, DType dtype, const FromBuffer& o, Where where) {
  Site site(where);
  require_storage("frombuffer", dtype);
  const auto size = static_cast<std::int64_t>(buffer.size()),
             width = static_cast<std::int64_t>(byte_width(dtype));
  if (o.offset < 0 || o.offset > size)
    fail("frombuffer", "the offset {} is outside of {} bytes", o.offset, size);
  const std::int64_t rest = size - o.offset;
  if (o.count < 0 && rest % width != 0)
    fail("frombuffer", "{} bytes are no whole number of {}", rest, strata::name(dtype));
  const std::int64_t count = o.count < 0 ? rest / width : o.count;
  if (count > rest / width)
    fail("frombuffer", "{} bytes are fewer than {} elements of {}", rest, count,
         strata::name(dtype));
  return elements_of(buffer.subspan(static_cast<std::size_t>(o.offset)), dtype, count);
}

Result<Array> fromfile(const std::string& file, DType dtype, const FromBuffer& o, Where where) {
  Site site(where);
  require_storage("fromfile", dtype);
  if (o.offset < 0) fail("fromfile", "the offset is at least 0, got {}", o.offset);
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  const auto size = static_cast<std::int64_t>(bytes->size()),
             rest = std::max<std::int64_t>(0, size - o.offset);
  const std::int64_t there = rest / static_cast<std::int64_t>(byte_width(dtype)),
                     count = o.count < 0 ? there : std::min(there, o.count);
  return elements_of(
      std::as_bytes(std::span(*bytes)).subspan(static_cast<std::size_t>(size - rest)), dtype,
      count);
}

Result<Array> load(const std::string& file) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  auto literal = decode_npy(*bytes, file);
  if (!literal) return literal.status();
  return canonical_array(std::move(*literal));
}

Result<std::vector<std::pair<std::string, Array>>> load_npz(const std::string& file) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  auto literals = decode_npz(*bytes, file);
  if (!literals) return literals.status();
  std::vector<std::pair<std::string, Array>> out;
  for (auto& [name, literal] : *literals)
    out.emplace_back(name, canonical_array(std::move(literal)));
  return out;
}

Status save(const std::string& file, const Operand& array) {
  Site site(array);
  auto bytes = encode_npy(array->literal());
  return bytes ? write_file_atomic(with_ending(file, ".npy"), *bytes) : bytes.status();
}

Status savez(const std::string& file, const std::vector<Array>& arrays,
             const std::map<std::string, Array>& named, Where where) {
  Site site(where);
  NamedLiterals all;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = fmt::format("arr_{}", i);
    if (named.contains(name))
      return Status(Code::invalid, "savez: an array has the name {}, which the one at {} has", name,
                    i);
    all.emplace_back(name, arrays[i].literal());
  }
  for (const auto& [name, array] : named) all.emplace_back(name, array.literal());
  auto bytes = encode_npz(all);
  return bytes ? write_file_atomic(with_ending(file, ".npz"), *bytes) : bytes.status();
}

}  // namespace strata::numpy
