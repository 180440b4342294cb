// Small help with words: which known name a mistyped one was meant to be, and numbers as people
// read them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// The least number of letters inserted, removed, replaced, or swapped with their neighbour that
/// makes b of a.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `word` (the first of several); empty when none is near enough to be what was
/// meant: more than a third of its letters, and more than two, differ.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// "; did you mean 'steps'?", the end of a message about a word that is unknown; empty where no
/// name is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

/// "950", "12.3 k", "4.56 M".
std::string human_count(double count);
/// "0:07", "12:34", "1:02:03".
std::string human_time(double seconds);

/// Bytes of `text` that are no part of well-formed UTF-8.
std::size_t invalid_utf8(std::string_view text);

}  // namespace strata
