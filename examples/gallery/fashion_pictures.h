// Fashion-MNIST: 60 000 pictures of clothing to learn from and 10 000 to be asked about, each
// 28 x 28, of ten kinds. Reads the files of the Debian package dataset-fashion-mnist. Source: Xiao,
// Rasul and Vollgraf, Fashion-MNIST (2017).
#pragma once

#include <strata/strata.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "require.h"

/// Where the package puts its files.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

/// Pictures and their kinds: u8[n, 28, 28, 1], u8[n].
struct Pictures {
  strata::Array x, y;
  STRATA_FIELDS(x, y)

  /// Those at these places.
  Pictures operator[](const strata::Array& which) const { return {x[which], y[which]}; }
  /// The first n.
  Pictures first(std::int64_t n) const { return {x[strata::slice(0, n)], y[strata::slice(0, n)]}; }
};

/// What a file holds behind its header; files are compressed.
inline std::vector<std::uint8_t> bytes_of(const std::string& path, std::size_t header) {
  std::FILE* in = popen(("gzip -dc " + path).c_str(), "r");
  std::vector<std::uint8_t> out, block(1 << 20);
  while (in) {
    const std::size_t n = std::fread(block.data(), 1, block.size(), in);
    if (n == 0) break;
    out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  }
  require(in && pclose(in) == 0 && out.size() > header,
          "the pictures can be read: apt-get install dataset-fashion-mnist");
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(header));
  return out;
}

/// The pictures of a part: "train" or "t10k".
inline Pictures read_pictures(const std::string& folder, const std::string& part) {
  const std::vector<std::uint8_t> labels =
      bytes_of(folder + "/" + part + "-labels-idx1-ubyte.gz", 8);
  const auto count = static_cast<std::int64_t>(labels.size());
  return {strata::array(bytes_of(folder + "/" + part + "-images-idx3-ubyte.gz", 16),
                        strata::Sizes{count, 28, 28, 1}),
          strata::array(labels)};
}
