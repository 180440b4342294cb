#include "strata/data/dataset_options.h"

#include <cstdlib>

namespace strata::data {

std::string DatasetOptions::standard_cache_folder() {
  if (const char* folder = std::getenv("STRATA_CACHE_DIR"))
    return *folder ? std::string(folder) + "/tokens" : "";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/strata/tokens";
  return "";
}

}  // namespace strata::data
