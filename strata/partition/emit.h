// Emits what moves data between devices: collectives, slices by the device's place, and a value
// from one layout to another.
//
// A reshard takes, as long as the layouts differ, the first of: a slice (nothing moves), a permute
// (each device's part moves whole), an all-to-all (an axis goes from one dimension to another), an
// all-gather. Dimensions whose size is not a multiple of their cuts go by way of the whole, since
// their tiles do not nest. Source: shardy/dialect/sdy/transforms/export/reshard_to_collectives.cc.
#pragma once

#include <string>
#include <vector>

#include "strata/op/build.h"
#include "strata/partition/grid.h"

namespace strata::spmd {

/// One collective of the program.
struct Move {
  std::string kind;        // "all_gather", "all_to_all", "permute", "all_reduce", "reduce_scatter"
  std::string axes;        // "x,y"; empty for a permute
  std::int64_t bytes = 0;  // that each device receives, at most
  std::string why;         // the operation that asked for it, with its place
  std::int64_t times = 1;  // in a loop of known length, how often
  const ir::Op* op = nullptr;  // that operation; null for results of the function
};

class Emitter {
 public:
  explicit Emitter(const Grid& grid) : grid_(&grid) {}

  /// What the collectives that follow are for.
  void set_reason(std::string why, const ir::Op* op = nullptr) {
    why_ = std::move(why);
    op_ = op;
  }
  /// How often what follows runs.
  void set_times(std::int64_t times) { times_ = times; }
  std::int64_t times() const { return times_; }
  const std::vector<Move>& moves() const { return moves_; }
  /// Channels are numbered from one above.
  void set_last_channel(std::int64_t channel) { channel_ = channel; }

  /// Entry `device` of the list on each device: a scalar i32.
  op::Value* at_device(op::Builder& b, const std::vector<std::int64_t>& per_device);
  /// Where the device's tile begins along `axes`, of tiles of `part` elements: a scalar i32.
  op::Value* tile_begin(op::Builder& b, const Axes& axes, std::int64_t part);
  /// Parts of all devices along `axes`, side by side along `dim`.
  op::Value* all_gather(op::Builder& b, op::Value* x, int dim, const Axes& axes);
  /// Parts `split` along one dimension to the devices along `axes`, theirs side by side along
  /// `concat`.
  op::Value* all_to_all(op::Builder& b, op::Value* x, int split, int concat, const Axes& axes);
  /// The values of all devices along `axes` combined, in the order of their tiles.
  op::Value* all_reduce(op::Builder& b, op::Value* x, const Axes& axes, op::Combiner combiner);
  /// The same, each device keeping its tile along `dim`, which product(axes) divides.
  op::Value* reduce_scatter(op::Builder& b, op::Value* x, int dim, const Axes& axes,
                            op::Combiner combiner);
  /// What the device `distance` tiles further along `axes` holds; zeros where there is none.
  op::Value* shift(op::Builder& b, op::Value* x, const Axes& axes, std::int64_t distance);
  /// The part of `x` (of type `whole` in layout `from`) that layout `to` puts here.
  op::Value* reshard(op::Builder& b, op::Value* x, const Type& whole, const Layout& from,
                     const Layout& to);
  /// `x` with `value` (a scalar) in place of what is beyond the array's end along `dim`, which
  /// has `size` elements in all and is cut over `axes`. Itself where nothing does.
  op::Value* masked(op::Builder& b, op::Value* x, int dim, std::int64_t size, const Axes& axes,
                    op::Value* value);

 private:
  ir::Attrs group_attrs(const Axes& axes);
  op::Value* permute(op::Builder& b, op::Value* x, const Layout& from, const Layout& to);
  /// `pairs` are source and target in turn.
  op::Value* collective_permute(op::Builder& b, op::Value* x,
                                const std::vector<std::int64_t>& pairs, const Axes& axes);
  op::Value* slice_tiles(op::Builder& b, op::Value* x, const std::vector<Axes>& by);
  void log(const char* kind, const Axes& axes, std::int64_t bytes);

  const Grid* grid_;
  std::vector<Move> moves_;
  std::string why_;
  const ir::Op* op_ = nullptr;
  std::int64_t channel_ = 0, times_ = 1;
};

}  // namespace strata::spmd
