// jax.numpy, as `strata::numpy`: users write `namespace snp = strata::numpy;`. All broadcast and
// promote as NumPy does with JAX's lattice; all accept C++ scalars; all may be traced,
// differentiated and batched. Errors name the function, the shapes and the user's line.
//
// A name that C++ or its library keeps for itself ends in an underscore: `std_`, `delete_`. Every
// name of upstream's has one in `strata` as well, but for these:
//
//   std, delete      namespace std, and a keyword: std_ and delete_ are in both
//   bool, double     keywords, as all names of Python's for dtypes: float32, int8, bool_, ... are
//                    strata's own (options.h)
//   linalg, fft      namespaces: `strata::linalg::inv` is numpy::linalg's
//
// A program that says `using namespace std` as well qualifies what both have and the library takes
// for any type: `strata::size(x)`, `strata::gcd(x, y)`, `strata::lcm(x, y)`.
#pragma once

#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/convolution.h"
#include "strata/api/numpy/einsum/einsum_path.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/files.h"
#include "strata/api/numpy/fitting.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/functional.h"
#include "strata/api/numpy/histograms.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/nonzero.h"
#include "strata/api/numpy/index/selection.h"
#include "strata/api/numpy/index/sets.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/integers.h"
#include "strata/api/numpy/interchange.h"
#include "strata/api/numpy/polynomials.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/statistics.h"
#include "strata/api/numpy/trigonometric.h"
#include "strata/api/numpy/types.h"

namespace strata {

namespace numpy {
namespace fft {}
namespace linalg {}
}  // namespace numpy
namespace fft = numpy::fft;
namespace linalg = numpy::linalg;

}  // namespace strata
