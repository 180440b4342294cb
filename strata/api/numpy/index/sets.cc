#include "strata/api/numpy/index/sets.h"

#include "strata/api/index.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/statistics.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::index_dtype;
using internal::length_of;
using internal::places_of;
using internal::Site;

namespace {

constexpr const char* kRemedy = "give size, or call it outside of jit, vmap and grad";

/// Keys by which a vector is in order, the most important last; complex numbers by their real parts
/// first.
std::vector<Array> keys_of(const Array& x) {
  if (is_complex(x.dtype())) return {imag(x), real(x)};
  return {is_bool(x.dtype()) ? x.astype(uint8) : x};
}
Array order_of(const Array& x) { return lexsort(keys_of(x)); }

Array differs(const Array& x, const Array& y, bool equal_nan) {
  const Array other = not_equal(x, y);
  return equal_nan && is_inexact(x.dtype()) ? other & ~(isnan(x) & isnan(y)) : other;
}

/// Slices along the first axis in order, whether each is other than the one before, and where they
/// were.
struct InOrder {
  Array rows, first, order;
};

InOrder in_order(const Array& given, bool equal_nan) {
  Array x = given;
  if (is_complex(x.dtype())) x = where(isnan(x), Array::scalar(nan, x.dtype(), false), x);
  const std::int64_t n = x.shape(0), width = n == 0 ? -1 : x.size() / n;
  if (x.size() == 0 && x.ndim() > 1 && width <= 0) {  // slices without elements are all equal
    std::vector<std::int64_t> one = internal::sizes(x);
    one[0] = 1;
    return {zeros(one, x.dtype()), zeros(1, bool_), zeros(1, index_dtype())};
  }
  if (n == 0) return {x, zeros(0, bool_), zeros(0, index_dtype())};
  const Array flat = x.reshape({n, width});
  std::vector<Array> keys;
  for (std::int64_t column = width; column-- > 0;)
    for (const Array& key : keys_of(flat[{ellipsis, column}])) keys.push_back(key);
  const Array order = lexsort(keys), rows = flat[order];
  const Array other =
      any(differs(rows[slice(1, none)], rows[slice(0, -1)], equal_nan), {.axis = 1});
  return {x[order], concatenate({ones(1, bool_), other}), order};
}

/// `with` what is asked for besides the values.
struct Wanted {
  bool indices = false, inverse = false, counts = false;
};

struct Found : UniqueAll {
  Array count;  // how many there are
};

Array counts_of(const InOrder& in, const std::optional<std::int64_t>& size, std::int64_t length,
                std::int64_t slices) {
  if (in.rows.size() == 0)
    return slices > 0 ? full(1, slices, index_dtype()) : zeros(0, index_dtype());
  const std::int64_t n = in.first.size();
  if (!size) return diff(concatenate({places_of(in.first, length), full(1, n, index_dtype())}));
  const Array begins = places_of(in.first, *size + 1), rest = begins[slice(1, none)];
  return diff(concatenate({begins[slice(1)], where(not_equal(rest, 0), rest, n)}));
}

Found found(const char* operation, const Array& x, const Unique& options, bool equal_nan,
            Wanted wanted) {
  const bool whole = !options.axis;
  const int axis = whole ? 0 : internal::axis_of(operation, *options.axis, x.ndim());
  const Array rows = whole ? ravel(x) : moveaxis(x, axis, 0);
  if (!options.size) internal::require_known(operation, x, kRemedy);
  if (rows.shape(0) == 0 && options.size.value_or(0) != 0 && !options.fill_value)
    fail(operation, "nothing fills {} entries for {}; give fill_value", *options.size,
         describe(x.type()));
  const InOrder in = in_order(rows, options.equal_nan.value_or(equal_nan));
  const std::int64_t length = length_of(operation, in.first, options.size);
  const bool some = in.rows.size() > 0;
  const Array places = places_of(in.first, length);
  Found out;
  out.count = sum(in.first, {.dtype = index_dtype()});
  Array values = some ? in.rows[places] : in.rows;
  if (options.size && options.fill_value) {
    const Array fill = cast(*options.fill_value, {x.dtype(), false});
    std::vector<std::int64_t> sizes = internal::sizes(values),
                              aligned(static_cast<std::size_t>(values.ndim()), 1);
    sizes[0] = aligned[0] = length;
    values = values.shape(0) == 0
                 ? full(sizes, fill)
                 : where((arange(length) < out.count).reshape(aligned), values, fill);
  }
  out.values = moveaxis(values, 0, axis);
  if (wanted.indices) out.indices = some ? in.order[places] : in.order;
  if (wanted.inverse) {
    const Array number = cumsum(in.first, {.dtype = index_dtype()}) - 1;
    out.inverse_indices = some ? zeros(in.first.size(), index_dtype()).at(in.order).set(number)
                               : zeros(rows.shape(0), index_dtype());
    if (whole) out.inverse_indices = out.inverse_indices.reshape(x.shape());
  }
  if (wanted.counts) out.counts = counts_of(in, options.size, length, rows.shape(0));
  return out;
}

}  // namespace

Array unique(const Operand& x, const Unique& options) {
  Site site(x);
  return found("unique", x, options, true, {}).values;
}
UniqueAll unique_all(const Operand& x, const Unique& options) {
  Site site(x);
  return found("unique_all", x, options, false, {true, true, true});
}
UniqueCounts unique_counts(const Operand& x, const Unique& options) {
  Site site(x);
  const Found f = found("unique_counts", x, options, false, {.counts = true});
  return {f.values, f.counts};
}
UniqueInverse unique_inverse(const Operand& x, const Unique& options) {
  Site site(x);
  const Found f = found("unique_inverse", x, options, false, {.inverse = true});
  return {f.values, f.inverse_indices};
}

namespace {

/// Two vectors of one dtype.
std::pair<Array, Array> vectors(const char* operation, const Array& x, const Array& y) {
  const Array both[] = {x, y};
  const DType dtype = internal::promoted(operation, both).dtype;
  return {ravel(cast(x, {dtype, false})), ravel(cast(y, {dtype, false}))};
}

Array is_in(const Array& x, const Array& among) {
  if (x.size() == 0 || among.size() == 0) return zeros(x.shape(), bool_);
  if (is_complex(x.dtype())) return any(equal(expand_dims(x, -1), among), {.axis = -1});
  const Array a = keys_of(x)[0], sorted = sort(keys_of(among)[0]);
  return equal(
      take(sorted, minimum(searchsorted(sorted, a), among.size() - 1), 0, {.mode = "clip"}), a);
}

/// The elements of a vector where a known condition holds.
Array where_true(const char* operation, const Array& x, const Array& holds) {
  return x[places_of(holds, length_of(operation, holds, {}))];
}

/// x[i], and `otherwise` where there is no such element.
Array get_or(const Array& x, const Array& i, std::int64_t otherwise) {
  const Array other = cast(Array(otherwise), {x.dtype(), false});
  return x.size() == 0 ? full(i.shape(), other)
                       : where(i < x.size(), take(x, i, 0, {.mode = "clip"}), other);
}

/// Values beyond the first `count` of so many: filled, or else the least of those that are there.
Array filled(const Array& values, const Array& count, const std::optional<Array>& fill) {
  const Array valid = arange(values.size()) < count;
  if (fill) return where(valid, values, cast(*fill, {values.dtype(), false}));
  if (values.size() == 0) return values;
  return where(valid, values, min(where(valid, values, max(values))));
}

/// The elements of both, each once in either, in order; `valid` counts them, `first` and `second`
/// say where they stood first.
struct Joined {
  Array sorted, order, valid, first, second, in_first;
};

Joined join(const char* operation, const Array& x, const Array& y, const SetOptions& options) {
  if (options.assume_unique || (x.size() == 0 && y.size() == 0)) {
    const Array all = concatenate({x, y}), order = order_of(all);
    return {all[order],
            order,
            full({}, all.size(), index_dtype()),
            arange(x.size()),
            arange(y.size()),
            full({}, x.size(), index_dtype())};
  }
  const auto once = [&](const Array& v) {
    Unique u{.size = options.size ? std::optional(v.size()) : std::nullopt, .fill_value = Array(0)};
    return found(operation, v, u, true, {.indices = true});
  };
  const Found a = once(x), b = once(y);
  if (!options.size) {
    const Array all = concatenate({a.values, b.values}), order = order_of(all);
    return {all[order], order,     full({}, all.size(), index_dtype()),
            a.indices,  b.indices, full({}, a.values.size(), index_dtype())};
  }
  // What is valid stands in front: y's elements directly behind the valid ones of x.
  Array all = zeros(x.size() + y.size(), x.dtype());
  all = lax::dynamic_update_slice(all, a.values, {Array(0)});
  all = lax::dynamic_update_slice(all, b.values, {a.count});
  const Array valid = a.count + b.count;
  std::vector<Array> keys = keys_of(all);
  keys.push_back((arange(all.size()) >= valid).astype(uint8));
  const Array order = lexsort(keys);
  return {all[order], order, valid, a.indices, b.indices, a.count};
}

}  // namespace

Array isin(const Operand& element, const Operand& test_elements, const IsIn& options) {
  Site site(element);
  const std::string& m = options.method;
  if (m != "auto" && m != "compare_all" && m != "binary_search" && m != "sort")
    fail("isin", "method is \"auto\", \"compare_all\", \"binary_search\" or \"sort\", got \"{}\"",
         m);
  const auto [x, among] = vectors("isin", element, test_elements);
  const Array in = is_in(x, among).reshape(element->shape());
  return options.invert ? logical_not(in) : in;
}

namespace {

Intersection intersection(const char* operation, const Operand& x_, const Operand& y_,
                          const SetOptions& options) {
  if (!options.size) {
    internal::require_known(operation, x_, kRemedy);
    internal::require_known(operation, y_, kRemedy);
  }
  const auto [x, y] = vectors(operation, x_, y_);
  const Joined j = join(operation, x, y, options);
  const std::int64_t n = j.sorted.size();
  if (n == 0) {
    const std::int64_t length = length_of(operation, zeros(0, bool_), options.size);
    return {options.fill_value ? full(length, cast(*options.fill_value, {x.dtype(), false}))
                               : zeros(length, x.dtype()),
            zeros(length, index_dtype()), zeros(length, index_dtype())};
  }
  const Array twice =
      equal(j.sorted[slice(1, none)], j.sorted[slice(0, -1)]) & (arange(1, n) < j.valid);
  const std::int64_t length = length_of(operation, twice, options.size);
  const Array count = sum(twice, {.dtype = index_dtype()}), valid = arange(length) < count;
  const Array places = where(valid, places_of(twice, length), n);
  const auto origin = [&](const Array& at, const Array& offset, const Array& indices,
                          std::int64_t size) {
    const Array number = where(valid, get_or(j.order, at, size) - offset, size);
    return get_or(indices, where(valid, number, indices.size()), size);
  };
  return {filled(get_or(j.sorted, places, 0), count, options.fill_value),
          origin(places, Array::scalar(std::int64_t{0}, index_dtype(), false), j.first, x.size()),
          origin(places + 1, j.in_first, j.second, y.size())};
}

}  // namespace

Array intersect1d(const Operand& x, const Operand& y, const SetOptions& options) {
  Site site(x);
  return intersection("intersect1d", x, y, options).values;
}
Intersection intersect1d_indices(const Operand& x, const Operand& y, const SetOptions& options) {
  Site site(x);
  return intersection("intersect1d_indices", x, y, options);
}

Array union1d(const Operand& x, const Operand& y, const SetOptions& options) {
  Site site(x);
  if (!options.size) internal::require_known("union1d", y, kRemedy);
  return found("union1d", concatenate({x, y}, none),
               {.size = options.size, .fill_value = options.fill_value}, true, {})
      .values;
}

Array setdiff1d(const Operand& x, const Operand& y, const SetOptions& options) {
  Site site(x);
  if (!options.size) {
    internal::require_known("setdiff1d", x, kRemedy);
    internal::require_known("setdiff1d", y, kRemedy);
  }
  const Array given = ravel(internal::strong(x));
  const Array fill = cast(options.fill_value.value_or(Array(0)), {x->dtype(), false});
  if (given.size() == 0) return full(options.size.value_or(0), fill);
  Array elements = given, valid = ones(given.shape(), bool_);
  if (!options.assume_unique) {
    const Found f =
        found("setdiff1d", given,
              {.size = options.size ? std::optional(given.size()) : std::nullopt}, true, {});
    elements = f.values;
    valid = arange(elements.size()) < f.count;
  }
  const auto [a, b] = vectors("setdiff1d", elements, y);
  const Array alone = logical_not(is_in(a, b)) & valid;
  if (!options.size) return where_true("setdiff1d", elements, alone);
  const std::int64_t length = length_of("setdiff1d", alone, options.size);
  return where(arange(length) < sum(alone, {.dtype = index_dtype()}),
               elements[places_of(alone, length)], fill);
}

Array setxor1d(const Operand& x_, const Operand& y_, const SetOptions& options) {
  Site site(x_);
  if (!options.size) {
    internal::require_known("setxor1d", x_, kRemedy);
    internal::require_known("setxor1d", y_, kRemedy);
  }
  const auto [x, y] = vectors("setxor1d", x_, y_);
  const Joined j = join("setxor1d", x, y, options);
  const std::int64_t n = j.sorted.size();
  if (n == 0) return zeros(options.size.value_or(0), x.dtype());
  // An element stands alone where it differs from both neighbours.
  const Array change = not_equal(j.sorted[slice(1, none)], j.sorted[slice(0, -1)]) |
                       (arange(1, n) >= j.valid),
              edge = ones(1, bool_);
  const Array alone =
      concatenate({edge, change}) & concatenate({change, edge}) & (arange(n) < j.valid);
  const std::int64_t length = length_of("setxor1d", alone, options.size);
  return options.size ? filled(get_or(j.sorted,
                                      where(arange(length) < sum(alone, {.dtype = index_dtype()}),
                                            places_of(alone, length), n),
                                      0),
                               sum(alone, {.dtype = index_dtype()}), options.fill_value)
                      : j.sorted[places_of(alone, length)];
}

}  // namespace strata::numpy
