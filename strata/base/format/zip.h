// Zip archives in memory: files with names, stored or deflated.
//
//   auto files = read_zip(bytes, "weights.npz");
//   if (!files) return files.status();
//
// Source: PKWARE's APPNOTE 6.3.10 (records of the directory, zip64), RFC 1951 by zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata {

struct ZipFile {
  std::string name, bytes;
};

/// What an archive's directory lists, in its order; messages call the archive `name`. Code::corrupt
/// for bytes that are no archive, are outside of it, or do not have their checksum; nothing is
/// reserved that the bytes cannot hold. Code::unsupported for other compressions, encryption and
/// several disks.
Result<std::vector<ZipFile>> read_zip(std::string_view bytes, const std::string& name);

struct WriteZip {
  /// Sizes, places and counts from here on are written in 64 bits; those that 32 bits (counts: 16)
  /// cannot say are in any case.
  std::uint64_t wide_from = 0xffffffff;
};
/// An archive of stored files, with the date 1980-01-01: equal contents give equal bytes.
/// Code::invalid for names of 64 KiB and more.
Result<std::string> write_zip(const std::vector<ZipFile>& files, const WriteZip& options = {});

}  // namespace strata
