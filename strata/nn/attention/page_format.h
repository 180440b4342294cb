// How keys and values are stored in pages: as they are, in a narrower float, or as integers of 8
// bits with a scale for each head of each token.
//
//   Array row = nn::to_pages(keys, DType::i8);            // (..., d) -> (..., d + 4)
//   Array back = nn::from_pages(row, DType::f32);         // what attention sees
//
// i8: x is stored as round(127 x / m) with m the greatest magnitude of the d numbers; behind them
// stand the four bytes of the f32 m / 127. Errors are at most m / 254 of each number. f8E4M3FN:
// rounded, beyond 448 taken as 448. Numbers that are no numbers stay so in every format.
#pragma once

#include "strata/api/array.h"

namespace strata::nn {

/// Elements of a page's row that hold d numbers of a head.
std::int64_t page_width(DType pages, std::int64_t d);
/// Whether pages of this dtype can hold numbers of that one.
bool holds(DType pages, DType numbers);
/// Numbers (..., d) as rows of pages, (..., page_width(pages, d)) of `pages`.
Array to_pages(const Array& x_d, DType pages);
/// Rows of pages (..., page_width) as numbers (..., d) of `numbers`.
Array from_pages(const Array& stored, DType numbers);

}  // namespace strata::nn
