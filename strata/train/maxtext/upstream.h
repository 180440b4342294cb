// What MaxText says of its configuration, as data: upstream.json, which
// tools/goldens/maxtext_tables.py writes from the package.
#pragma once

#include <nlohmann/json.hpp>

namespace strata::train::maxtext {

/// The table: "keys" (type, default, range of each), "enums", "validators", "functions", "files"
/// (YAML files below MaxText's folder configs), "topologies" (devices of a slice), "tokenizers",
/// "multimodal", "source".
const nlohmann::ordered_json& upstream();

}  // namespace strata::train::maxtext
