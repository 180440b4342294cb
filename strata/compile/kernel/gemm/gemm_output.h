// Where a product's elements go: reshapes and transpositions that alone read it are done by the
// product as it stores, and so is what is computed from its elements one by one (an epilogue: bias,
// activation, residual, scale, conversion), from registers.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// The reshapes and transpositions behind `product`, one reading the other, as far as `only_reader`
/// (the one operation that reads a value, or null) tells that nobody else reads what is between;
/// of a product that is not narrow, those that keep neighbours together.
std::vector<const ir::Op*> output_moves(
    const ir::Op& product, const std::function<const ir::Op*(const ir::Value*)>& only_reader);

/// Row-major offset, in the last of `moves`' results, of the element at `offset` of what the first
/// one reads. `along` is the part of it that may run along the lanes: it stays in the offset where
/// its dimension has one element (and where it is 0), too.
Index output_offset(loop::Builder& b, std::span<const ir::Op* const> moves, const Index& offset,
                    const Index& along);

/// Whether it pays that a product's kernel computes what follows it, `flops` of arithmetic for each
/// element. Its lanes have to run along its results. What is much arithmetic is so only for results
/// of a launch's worth: in a launch of its own it runs as fast, by longer vectors. Results that
/// leave the caches are read and written faster in one sweep than by tiles.
bool fuses_epilogue(const ir::Op& product, double flops);

/// What a product's kernel reads and writes: its elements are stored through the moves behind it,
/// and what follows it is computed from them as they are stored.
class GemmOutput : public KernelContext {
 public:
  GemmOutput(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built);

  /// Whether results are so large that they are written past the caches: tiles write a line or two
  /// in each of some rows, which would be read from memory before. (Zen 5, two threads, ms: 2048 x
  /// 256 x 768 with SwiGLU's derivative, two results of 6 MB, 2.0 through the caches, 1.5 past
  /// them; who reads them next takes 0.04 longer.)
  bool streams_results() const;
  /// Says that they are not, however large.
  void keep_in_caches() { keeps_in_caches_ = true; }

  /// What is computed from an element is so much code that it is written once for the rows of a
  /// tile, as a loop.
  bool loops_over_rows() const;

  /// Says that what is read at a result's place is read again so many elements further on, a tile
  /// later, and fetched meanwhile: tiles follow each other along the columns, where rows of a large
  /// array are lines far apart that nothing else fetches in time.
  void fetch_ahead(std::int64_t elements) { ahead_ = elements; }
  /// The element of `v`, of the results' shape, at `offset`.
  Inst* beside(const ir::Value* v, const Index& offset);

  /// Stores what the element at `offset` of the product's own result gives; `along` as for
  /// `output_offset`. All is computed before any of it is stored: a result may take the memory of
  /// an operand.
  void store(const Index& offset, const Index& along, Inst* sum);

 protected:
  bool inlined(const ir::Value* v) override {
    return after_.count(v) != 0 || KernelContext::inlined(v);
  }
  Inst* leaf(const ir::Value* v, std::span<const Index> index, const Index& offset) override;

 private:
  /// What loops read of `v` beside a result is fetched while products are computed, for arithmetic
  /// leaves memory idle.
  void fetch_beside(const ir::Value* v, const Index& offset);

  const Group& group_;
  std::unordered_set<const ir::Value*> after_;  // what the epilogue computes; lookup only
  Inst* element_ = nullptr;                     // that is being stored
  std::int64_t ahead_ = 0;
  bool reads_beside_ = false;  // the co-read is at the result's index
  bool keeps_in_caches_ = false;
};

}  // namespace strata::compile
