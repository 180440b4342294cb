// The functions of the table, one declaration a slot: each is defined beside what it acts on and
// throws what `error.h` turns into a PJRT_Error. Arguments are read and answers written in place.
#pragma once

#include <string>

#include "strata/runtime/plugin/abi.h"

namespace strata::pjrt {

#define STRATA_PJRT_DECLARE(slot, name) void name(PJRT_##name##_Args& args);
#define STRATA_PJRT_NOTHING(slot, name)
STRATA_PJRT_SLOTS(STRATA_PJRT_DECLARE, STRATA_PJRT_NOTHING)
#undef STRATA_PJRT_DECLARE
#undef STRATA_PJRT_NOTHING

/// Answers with a text that lives on.
inline void give(const std::string& from, const char*& text, std::size_t& size) {
  text = from.data();
  size = from.size();
}

/// The extensions that the table offers, as a list.
PJRT_Extension_Base* extensions();

}  // namespace strata::pjrt
