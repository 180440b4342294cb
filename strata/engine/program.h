// The compiled step of the engine, and what it keeps from step to step: weights, pages, and the
// tokens that requests with penalties have seen.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "strata/engine/sampling.h"
#include "strata/model/model.h"

namespace strata::engine {

class Program {
 public:
  struct Shape {
    std::int64_t pages, page_size, slots;
    std::int64_t vocabulary;                // tokens below this are drawn
    std::optional<DType> pages_dtype = {};  // as nn/attention/page_format.h; none: the model's
  };
  /// Where tokens are drawn: behind the last token of each row; behind each token of each row, the
  /// first of which is known and the others guessed; or behind the last, with log-probabilities of
  /// all tokens behind each token.
  enum class Draws { last, all, last_with_scores };
  struct Result {
    Drawn drawn;   // of R rows: B, or B S for Draws::all
    Array logits;  // (R, V) f32: before everything that changes them
    Array table;   // (R, V) f32: all log-probabilities, where asked for
    Array scores;  // (B, S, V) f32: log-softmax of the logits, for last_with_scores
  };

  /// `params` are cast to the model's dtype.
  Program(model::ModelPtr model, const tree::Tree& params, const Shape& shape);

  /// Rows of slots[b] = the number of slots draw nothing that counts. Guessed tokens that are drawn
  /// count as output, and so does the token behind the last of them.
  Result run(Draws draws, bool with_table, const model::Batch& batch, const Rows& rows,
             const Array& slots);
  /// Says what the request in a slot has seen.
  void begin(std::int64_t slot, std::span<const std::int32_t> prompt,
             std::span<const std::int32_t> output);
  /// Begins with an empty cache.
  void clear();
  /// Other weights. Throws Error unless they have the names and shapes of those before.
  void set_params(const tree::Tree& params);

  /// What pages hold, one leaf after another, each (layers, n, P, ...): arrays on the host.
  std::vector<Literal> read_pages(std::span<const std::int32_t> pages);
  /// Throws Error unless these are of so many pages of this cache.
  void check_pages(std::int64_t pages, const std::vector<Literal>& contents) const;
  /// Writes what `read_pages` gave, from page number `first` of it on. Throws as `check_pages`.
  void write_pages(std::span<const std::int32_t> pages, const std::vector<Literal>& contents,
                   std::int64_t first = 0);
  /// Page `to` holds what page `from` does.
  void copy_page(std::int32_t from, std::int32_t to);
  /// Tells weights, dtypes and classes of processors apart whose pages differ.
  std::string identity() const;

 private:
  using Stepped = std::tuple<Drawn, Array, Array, Array, tree::Tree, Seen>;
  using Step = std::function<Stepped(const tree::Tree&, const model::Batch&, const Rows&,
                                     const Array&, tree::Tree, Seen)>;
  static Stepped body(const model::Model& model, std::int64_t known, Draws draws, bool with_table,
                      const tree::Tree& params, const model::Batch& batch, const Rows& rows,
                      const Array& slots, const tree::Tree& pages, const Seen& seen);
  tree::Tree cast(const tree::Tree& params) const;

  model::ModelPtr model_;
  Shape shape_;
  tree::Tree params_, pages_;
  Seen seen_;
  std::array<Step, 6> steps_;
  std::function<Seen(Seen, const Array&, const Array&, const Array&)> begin_;
  std::function<tree::Tree(const tree::Tree&, const Array&)> take_pages_;
  std::function<tree::Tree(tree::Tree, const tree::Tree&, const Array&)> put_pages_;
  std::function<tree::Tree(tree::Tree, const Array&, const Array&)> copy_page_;
};

}  // namespace strata::engine
