// `strata data describe FILE ...`: files of data as a pipeline reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata::cli {

/// Whether these arguments are files or folders of data, and no configuration.
bool are_data_files(const std::vector<std::string>& arguments);

struct DescribeFiles {
  std::vector<std::string> files;
  /// Elements that are read to take the time of each operation; 0 for none.
  std::int64_t measure = 0;
  /// Where the graph is drawn; empty for nowhere.
  std::string picture;
  bool json = false;
};
/// Says formats, records and bytes, and draws the graph that reads the files one after the other.
int describe_files(const DescribeFiles& o);

}  // namespace strata::cli
