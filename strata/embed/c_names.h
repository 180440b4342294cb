// Names of C for what programs call things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::embed {

/// Whether C and C++ take it as a name of one's own: letters, digits, underscores, no keyword.
bool is_identifier(std::string_view name);

/// The letters, digits and underscores of a name, other characters as "_": "" where nothing is
/// left, or a digit comes first.
std::string identifier_of(std::string_view name);

/// A field for each input, then for each output, all different, from paths as JAX writes them:
/// "[0]['w']" is w, "[1]" is in1, "" is out.
///   field_names({"[0]['w']", "[0]['b']", "[1]"}, {""}) == {"w", "b", "in1", "out"}
std::vector<std::string> field_names(const std::vector<std::string>& inputs,
                                     const std::vector<std::string>& outputs);

}  // namespace strata::embed
