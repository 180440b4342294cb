// STRATA_FIELDS: a struct lists its fields once and is a tree from then on.
//
//   struct Params { strata::Array w, b; STRATA_FIELDS(w, b) };
//
// gives `strata_fields(f)`, which calls `f("w", w)` and `f("b", b)` in the order of the list, for a const and a mutable
// struct. Up to 80 fields; a struct without fields of interest writes `STRATA_FIELDS()`.
#pragma once

#define STRATA_FIELDS(...)                                                                   \
  template <class StrataVisitor>                                                             \
  void strata_fields([[maybe_unused]] StrataVisitor&& strata_visitor) {                      \
    __VA_OPT__(STRATA_FIELDS_EXPAND(STRATA_FIELDS_EACH(__VA_ARGS__)))                        \
  }                                                                                          \
  template <class StrataVisitor>                                                             \
  void strata_fields([[maybe_unused]] StrataVisitor&& strata_visitor) const {                \
    __VA_OPT__(STRATA_FIELDS_EXPAND(STRATA_FIELDS_EACH(__VA_ARGS__)))                        \
  }

// The usual recursion over a variadic list: each EXPAND rescans, so that EACH can name itself again.
#define STRATA_FIELDS_EACH(field, ...) \
  strata_visitor(#field, field);       \
  __VA_OPT__(STRATA_FIELDS_AGAIN STRATA_FIELDS_PARENTHESES (__VA_ARGS__))
#define STRATA_FIELDS_AGAIN() STRATA_FIELDS_EACH
#define STRATA_FIELDS_PARENTHESES ()
#define STRATA_FIELDS_EXPAND(...) STRATA_FIELDS_EXPAND1(STRATA_FIELDS_EXPAND1(STRATA_FIELDS_EXPAND1(__VA_ARGS__)))
#define STRATA_FIELDS_EXPAND1(...) STRATA_FIELDS_EXPAND2(STRATA_FIELDS_EXPAND2(STRATA_FIELDS_EXPAND2(__VA_ARGS__)))
#define STRATA_FIELDS_EXPAND2(...) STRATA_FIELDS_EXPAND3(STRATA_FIELDS_EXPAND3(STRATA_FIELDS_EXPAND3(__VA_ARGS__)))
#define STRATA_FIELDS_EXPAND3(...) STRATA_FIELDS_EXPAND4(STRATA_FIELDS_EXPAND4(STRATA_FIELDS_EXPAND4(__VA_ARGS__)))
#define STRATA_FIELDS_EXPAND4(...) __VA_ARGS__
