#include "strata/op/index/indexing.h"

#include "strata/loop/pieces.h"
#include "strata/op/build.h"

namespace strata::op {
namespace {

bool contains(const Ints& list, std::int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

Ints complement(int rank, const Ints& a, const Ints& b = {}) {
  Ints out;
  for (std::int64_t d = 0; d < rank; ++d)
    if (!contains(a, d) && !contains(b, d)) out.push_back(d);
  return out;
}

IndexDims read_dims(const Attrs& attrs, const char* window, const char* dropped,
                    const char* operand_batch, const char* indices_batch, const char* map) {
  auto list = [&](const char* name) { return attrs.get_or<Ints>(name, {}); };
  return {list(window),        list(dropped), list(operand_batch),
          list(indices_batch), list(map),     attrs.get_or<std::int64_t>("index_vector_dim", 0)};
}

/// Numbers of the constraints: in range, each once, ascending (0: they need not).
struct ListConstraints {
  int range, unique, order;
};

/// " (C7)", or nothing for 0.
std::string number(int constraint) {
  return constraint == 0 ? "" : fmt::format(" (C{})", constraint);
}

void expect_list(std::string_view op, const char* what, const Ints& list, int rank,
                 ListConstraints c) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= rank)
      throw Error(std::string(op), "{} has dimension {}, out of range for rank {}{}", what, list[i],
                  rank, number(c.range));
    for (std::size_t j = 0; j < i; ++j)
      if (list[j] == list[i])
        throw Error(std::string(op), "{} has dimension {} twice{}", what, list[i],
                    number(c.unique));
    if (c.order != 0 && i > 0 && list[i - 1] > list[i])
      throw Error(std::string(op), "{} must ascend, got {} before {}{}", what, list[i - 1], list[i],
                  number(c.order));
  }
}

void expect_disjoint(std::string_view op, const char* what, const Ints& a, const Ints& b,
                     int constraint) {
  for (std::int64_t d : a)
    if (contains(b, d))
      throw Error(std::string(op), "dimension {} is both {}{}", d, what, number(constraint));
}

/// The greatest value of an integer dtype, as far as i64 can say it.
std::int64_t greatest(DType dtype) {
  int bits = bit_width(dtype) - (is_signed(dtype) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}

}  // namespace

// ---- starts ------------------------------------------------------------------------------------

std::int64_t clamped_start(const Literal& starts, std::int64_t i, std::int64_t high) {
  std::int64_t start = starts.integer(i);
  if (start < 0) return is_unsigned(starts.dtype()) ? high : 0;  // unsigned: beyond what i64 holds
  return std::min(start, high);
}

loop::Index lower_clamped_start(loop::Builder& b, loop::Inst* start, std::int64_t high) {
  if (high == 0) return 0;
  DType dtype = start->type.dtype;
  if (is_signed(dtype)) start = b.binary(loop::Opcode::max, start, b.constant_int(dtype, 0));
  if (high < greatest(dtype))
    start = b.binary(loop::Opcode::min, start, b.constant_int(dtype, high));
  return b.index_of(b.convert(DType::i64, start), 0, high);
}

void expect_starts(std::string_view op, std::span<Value* const> starts, int rank,
                   const StartConstraints& c) {
  if (static_cast<int>(starts.size()) != rank)
    throw Error(std::string(op), "expected {} start indices, got {} ({})", rank, starts.size(),
                c.count);
  for (Value* s : starts) {
    if (!s->type().is_tensor() || s->rank() != 0 || !is_integer(s->dtype()))
      throw Error(std::string(op), "start indices must be scalars of an integer dtype, got {} ({})",
                  s->type().to_string(), c.input);
    if (s->type() != starts[0]->type())
      throw Error(std::string(op), "start indices must have one type, got {} and {} ({})",
                  starts[0]->type().to_string(), s->type().to_string(), c.types);
  }
}

Value* start_bound(Builder& b, DType dtype, std::int64_t high) {
  Literal bound(Type::scalar(dtype));
  bound.set_integer(0, std::min(high, greatest(dtype)));
  return constant(b, bound);
}

Value* stack_starts(Builder& b, std::span<Value* const> starts, const std::vector<bool>& batched,
                    std::int64_t size) {
  bool any = std::find(batched.begin(), batched.end(), true) != batched.end();
  Values columns;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (!any)
      columns.push_back(reshape(b, starts[i], Shape{1}));
    else
      columns.push_back(
          broadcast_in_dim(b, starts[i], Shape{size, 1}, batched[i] ? Ints{0} : Ints{}));
  }
  return concatenate(b, columns, any ? 1 : 0);
}

void Pieces::vector(loop::Builder& b, const loop::Index& piece, int lanes,
                    const std::function<void(loop::Index)>& body) const {
  if (count() == 1) return b.vector(0, extent, loop::lanes_for(extent, lanes), body);
  loop::Index begin = piece * length, end = begin + length;
  if (extent % length != 0)
    end = b.index_of(b.binary(loop::Opcode::min, b.value(end), b.constant_int(DType::i64, extent)),
                     0, extent);
  b.vector(begin, end, lanes, body);
}

// ---- gather and scatter ------------------------------------------------------------------------

Ints IndexDims::outer(int small_rank) const { return complement(small_rank, window); }
Ints IndexDims::windowed(int operand_rank) const {
  return complement(operand_rank, dropped, operand_batch);
}

IndexDims gather_dims(const Attrs& attrs) {
  return read_dims(attrs, "offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                   "start_indices_batching_dims", "start_index_map");
}
IndexDims scatter_dims(const Attrs& attrs) {
  return read_dims(attrs, "update_window_dims", "inserted_window_dims", "input_batching_dims",
                   "scatter_indices_batching_dims", "scatter_dims_to_operand_dims");
}
void set_gather_dims(Attrs& attrs, const IndexDims& d) {
  attrs.set("offset_dims", d.window)
      .set("collapsed_slice_dims", d.dropped)
      .set("operand_batching_dims", d.operand_batch);
  attrs.set("start_indices_batching_dims", d.indices_batch)
      .set("start_index_map", d.index_map)
      .set("index_vector_dim", d.index_vector);
}
void set_scatter_dims(Attrs& attrs, const IndexDims& d) {
  attrs.set("update_window_dims", d.window)
      .set("inserted_window_dims", d.dropped)
      .set("input_batching_dims", d.operand_batch);
  attrs.set("scatter_indices_batching_dims", d.indices_batch)
      .set("scatter_dims_to_operand_dims", d.index_map)
      .set("index_vector_dim", d.index_vector);
}

void expect_index_dims(std::string_view op, const IndexDims& d, const Type& operand,
                       const Type& indices, int small_rank, const IndexConstraints& c) {
  if (!is_integer(indices.dtype()))
    throw Error(std::string(op), "indices must be integers, got {} (I2)", indices.to_string());
  int rank = operand.rank();
  if (static_cast<int>(d.window.size() + d.dropped.size() + d.operand_batch.size()) != rank)
    throw Error(std::string(op),
                "{} window, {} dropped and {} batching dimensions do not make up {}{}",
                d.window.size(), d.dropped.size(), d.operand_batch.size(), operand.to_string(),
                number(c.ranks));
  if (d.index_vector < 0 || d.index_vector > indices.rank())
    throw Error(std::string(op), "index_vector_dim {} is out of range for {}{}", d.index_vector,
                indices.to_string(), number(c.vector_range));
  bool explicit_vector = d.index_vector < indices.rank();
  Dim components = explicit_vector ? indices.shape().dim(static_cast<int>(d.index_vector)) : Dim(1);
  if (!may_equal(components, Dim(static_cast<std::int64_t>(d.index_map.size()))))
    throw Error(std::string(op),
                "the index vector of {} has not the {} components of the index map{}",
                indices.to_string(), d.index_map.size(), number(c.components));
  expect_list(op, "the window dimensions", d.window, small_rank,
              {c.window_range, c.window_order, c.window_order});
  expect_list(op, "the dropped dimensions", d.dropped, rank,
              {c.dropped_range, c.dropped_unique, c.dropped_order});
  expect_list(op, "the operand's batching dimensions", d.operand_batch, rank,
              {c.batch_range, c.dropped_unique, c.batch_order});
  expect_list(op, "the indices' batching dimensions", d.indices_batch, indices.rank(),
              {c.indices_range, c.indices_unique, 0});
  expect_list(op, "the index map", d.index_map, rank, {c.map_range, c.map_unique, 0});
  expect_disjoint(op, "dropped and batching", d.dropped, d.operand_batch, c.dropped_unique);
  expect_disjoint(op, "indexed and batching", d.index_map, d.operand_batch, c.map_unique);
  if (contains(d.indices_batch, d.index_vector))
    throw Error(std::string(op), "index_vector_dim {} is a batching dimension{}", d.index_vector,
                number(c.vector_batch));
  if (d.operand_batch.size() != d.indices_batch.size())
    throw Error(std::string(op), "batching dimensions must pair up, got {} and {}{}",
                d.operand_batch.size(), d.indices_batch.size(), number(c.batch_pairs));
  for (std::size_t i = 0; i < d.operand_batch.size(); ++i)
    if (!may_equal(operand.shape().dim(static_cast<int>(d.operand_batch[i])),
                   indices.shape().dim(static_cast<int>(d.indices_batch[i]))))
      throw Error(std::string(op), "batching dimensions {} of {} and {} of {} differ in size{}",
                  d.operand_batch[i], operand.to_string(), d.indices_batch[i], indices.to_string(),
                  number(c.batch_sizes));
}

std::vector<Dim> outer_sizes(const IndexDims& d, const Type& indices) {
  std::vector<Dim> sizes = indices.shape().dims();
  if (d.index_vector < indices.rank()) sizes.erase(sizes.begin() + d.index_vector);
  return sizes;
}

IndexDims with_batch(const IndexDims& d, bool operand_batched, bool indices_batched) {
  IndexDims out = d;
  out.window = shifted(d.window);
  if (operand_batched) {
    out.dropped = shifted(d.dropped);
    out.operand_batch = shifted(d.operand_batch);
    out.index_map = shifted(d.index_map);
  }
  if (indices_batched) {
    out.indices_batch = shifted(d.indices_batch);
    out.index_vector = d.index_vector + 1;
  }
  if (operand_batched && indices_batched) {
    out.operand_batch = prepended(0, out.operand_batch);
    out.indices_batch = prepended(0, out.indices_batch);
  } else if (operand_batched) {
    out.window = prepended(0, out.window);
  }
  return out;
}

}  // namespace strata::op
