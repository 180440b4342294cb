// What functions of files do with paths of object stores; `base/file.h` sends those paths here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata {

/// The bytes of an object.
Result<std::string> read_object(const std::string& path);

/// Writes an object whole, whatever was there before.
Status write_object(const std::string& path, std::span<const std::string_view> pieces);

/// Removes an object and all whose keys are below it as in a folder. Code::denied for a whole
/// bucket.
Status remove_objects(const std::string& path);

/// Lists the names in a folder, sorted. Code::not_found for a folder without objects.
Result<std::vector<std::string>> list_objects(const std::string& path);

/// Whether an object or a folder with contents has this path. A bucket is taken to exist. Codes of
/// find_object; a request that fails is a failure.
Result<bool> object_exists(const std::string& path);

}  // namespace strata
