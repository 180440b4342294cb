// Formats of strings in JSON Schema as regular expressions.
#pragma once

#include <string_view>

namespace strata::engine::grammar {

/// The expression that whole strings of a format match; null for one that has none here. Strings
/// are never outside of what the format's own document allows: RFC 3339 for dates and times, ISO
/// 8601 for durations, RFC 5321 without quotes and brackets for addresses, RFC 1123 for names of
/// hosts, RFC 3986 for addresses of the web, RFC 4122, RFC 6901.
const char* format_expression(std::string_view name);

}  // namespace strata::engine::grammar
