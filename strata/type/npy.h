// NumPy's files of one array (.npy) and of several with names (.npz): bytes to literals and back.
//
// Source: numpy/lib/_format_impl.py (versions 1.0, 2.0 and 3.0; either byte order; row- or
// column-major); bf16 is written as two bytes without meaning
// (`<V2`), as jax.numpy.save does, and such bytes are read as bf16, as jax.numpy.load does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata {

/// The array that the bytes of a .npy file hold, in row-major order; messages call the file `name`.
/// Code::corrupt for bytes that are no such file or too few, Code::unsupported for objects,
/// strings, dates and records.
Result<Literal> decode_npy(std::string_view bytes, const std::string& name);
/// The bytes as numpy.save writes them, version 1.0. Code::unsupported for types that NumPy's files
/// do not have (f8, i4, ...).
Result<std::string> encode_npy(const Literal& array);

using NamedLiterals = std::vector<std::pair<std::string, Literal>>;
/// The arrays of a .npz file in its order, stored or deflated, under their names without ".npy".
/// Codes of decode_npy and read_zip.
Result<NamedLiterals> decode_npz(std::string_view bytes, const std::string& name);
/// The bytes of such a file, not compressed, as numpy.savez.
Result<std::string> encode_npz(const NamedLiterals& arrays);

}  // namespace strata
