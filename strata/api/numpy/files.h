// Arrays in bytes and files. What a file does wrong comes back as a Status; as everywhere, 64-bit
// elements become 32-bit ones unless x64 is on.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/array.h"
#include "strata/base/result.h"

namespace strata::numpy {

struct FromBuffer {
  internal::Named named = internal::Named();
  /// How many elements, all that are there where negative; and how many bytes stand before them.
  std::int64_t count = -1, offset = 0;
};
/// A vector of the elements that stand in memory of this machine, copied. Throws Error for an
/// offset outside, fewer elements than `count`, and, without one, bytes that are no whole number of
/// elements.
Array frombuffer(std::span<const std::byte> buffer, DType dtype = DType::f64,
                 const FromBuffer& options = {}, Where where = Where::current());
template <class T>
  requires has_dtype<T>
Array frombuffer(std::span<const T> buffer, DType dtype = DType::f64,
                 const FromBuffer& options = {}, Where where = Where::current()) {
  return frombuffer(std::as_bytes(buffer), dtype, options, where);
}

/// The elements whose bytes a file holds, as numpy.fromfile reads them with `sep=""`; what is too
/// few for `count` is what there is, and a rest is left. (Upstream's function says that it is not
/// implemented, for it is not pure; this one reads once, when it is called.) Codes of read_file.
Result<Array> fromfile(const std::string& file, DType dtype = DType::f64,
                       const FromBuffer& options = {}, Where where = Where::current());

/// The array of a .npy file (type/npy.h). bf16 comes back as bf16.
Result<Array> load(const std::string& file);
/// The arrays of a .npz file, stored or compressed, in the file's order; upstream's `load` of such
/// a file.
Result<std::vector<std::pair<std::string, Array>>> load_npz(const std::string& file);

/// Writes a .npy file; the name gets ".npy" unless it ends so. The old file or the whole new one is
/// there, whatever happens.
Status save(const std::string& file, const Operand& array);
/// Writes a .npz file, not compressed; the name gets ".npz" unless it ends so. The first arrays are
/// called arr_0, arr_1, ...; Code::invalid where a named one has such a name too.
Status savez(const std::string& file, const std::vector<Array>& arrays,
             const std::map<std::string, Array>& named = {}, Where where = Where::current());

}  // namespace strata::numpy

namespace strata {

using numpy::frombuffer;
using numpy::fromfile;
using numpy::load;
using numpy::save;
using numpy::savez;

}  // namespace strata
