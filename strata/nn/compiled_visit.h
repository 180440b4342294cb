// Layers of the library are visited by code that is compiled once.
//
//   STRATA_COMPILED_VISIT(strata::nn::Linear)          // at the end of linear.h
//   STRATA_COMPILE_VISIT(strata::nn::Linear)           // in linear.cc
//
// A visitor's way through a struct is a template; without these each translation unit with a model
// would compile it for every layer that the model holds.
#pragma once

#include "strata/api/tree/visitor.h"

/// Says that the visit of a struct is compiled elsewhere.
#define STRATA_COMPILED_VISIT(...)                                            \
  extern template void strata::tree::accept<__VA_ARGS__>(__VA_ARGS__ & layer, \
                                                         strata::tree::Visitor & visitor);
/// Compiles it here.
#define STRATA_COMPILE_VISIT(...)                                      \
  template void strata::tree::accept<__VA_ARGS__>(__VA_ARGS__ & layer, \
                                                  strata::tree::Visitor & visitor);
