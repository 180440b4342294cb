// A plan as an object file that links into other programs: kernels, driver, constants and one C
// function. What they call is in strata/embed's runtime.
//
//   const char* NAME_run(void* const* inputs, void* const* outputs);   // nothing, or the text of
//   an error extern const char NAME_signature[];
#pragma once

#include <string>

#include "strata/compile/llvm/target.h"
#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// The C function, whose inputs are the plan's arguments.
struct ObjectInterface {
  std::string name;       // a C identifier, which begins the exported symbols
  std::string signature;  // for people
};

/// Bytes of the object file. For `plan.target`. All symbols but those two are its own.
/// Throws strata::Error where constants are more than an object's addresses reach.
std::string make_object_file(const Plan& plan, const ObjectInterface& interface);

}  // namespace strata::compile
