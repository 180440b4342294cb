// What training, evaluation, generation and checkpoints ask of a model, whatever its family.
//
//   model::ModelPtr m = model::make("llama2", {{"base_emb_dim", "64"}, {"head_dim", "16"}});
//   tree::Tree params = m->init(random::key(0));
//   Array logits = m->forward(params, tokens);
//   auto [next, cache] = m->extend(params, token, position, m->init_cache(1, 256));
//
// A family is one folder beside this file; it registers itself by name in families.cc, with the
// keys of its configuration. Weights are a tree::Tree, whose leaves carry logical axes in their
// notes
// (`out_sharding`), so that optimizers, checkpoints and sharding rules need no family either.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "strata/api/tree/tree.h"
#include "strata/tree/tree.h"

namespace strata::model {

/// What several sequences read in one call: row b holds the `count[b]` tokens at positions
/// first[b] .. first[b]+count[b]-1 of its sequence, and anything beyond.
///
/// Page m of row b's sequence (positions m P .. m P + P - 1) is page pages[b][m] of the cache.
/// Rows with a count of zero read nothing. Shapes alone decide what is compiled.
struct Batch {
  Array tokens;  // (B, S) i32
  Array first;   // (B) i32
  Array count;   // (B) i32
  Array pages;   // (B, M) i32, of a cache's N pages of P positions
  STRATA_FIELDS(tokens, first, count, pages)
};

/// Several documents in a row: what a token sees is its own document, up to itself.
struct DocumentsInRows {
  Array segments;   // (B, S) i32: equal for the tokens of a document, which are neighbours
  Array positions;  // (B, S) i32: a token's place in its document
};

/// A model of a family with its configuration; it holds no weights.
class Model {
 public:
  virtual ~Model() = default;
  /// "llama2", as MaxText's decoder_block names it.
  virtual std::string family() const = 0;
  /// The number of tokens that it knows.
  virtual std::int64_t vocab_size() const = 0;
  /// The dtype of its activations and logits.
  virtual DType dtype() const = 0;

  /// First weights, f32, by a key; traceable.
  virtual tree::Tree init(const Array& key) const = 0;
  /// The weights in another dtype, but for packed ones. The functions below do this themselves;
  /// done once before many calls it saves time.
  virtual tree::Tree cast(const tree::Tree& params, DType dtype) const;
  /// tokens (B, S) of i32 -> logits (B, S, V) of `dtype`.
  virtual Array forward(const tree::Tree& params, const Array& tokens_BS) const = 0;
  /// Cross-entropy in nats of each of the targets (B, S) under the logits of tokens: (B, S), f32
  /// (f64 where that is the dtype).
  virtual Array token_losses(const tree::Tree& params, const Array& tokens_BS,
                             const Array& targets_BS) const;

  /// Cross-entropy as `token_losses`, (B, S), of packed rows: attention stays inside each document,
  /// whose losses are those of a row of its own. Throws Error where the family reads no packed
  /// rows.
  virtual Array packed_token_losses(const tree::Tree& params, const Array& tokens_BS,
                                    const Array& targets_BS, const DocumentsInRows& rows) const;

  /// An empty key/value cache for `batch` sequences of at most `length` tokens.
  virtual tree::Tree init_cache(std::int64_t batch, std::int64_t length) const = 0;
  /// Reads tokens (B, S) at positions first .. first+S-1, which see those before them in the cache
  /// and each other causally. Returns logits (B, S, V), or those of the one token `only`, (B, 1,
  /// V), and the cache with these tokens. Shapes do not depend on `first`.
  virtual std::pair<Array, tree::Tree> extend(const tree::Tree& params, const Array& tokens_BS,
                                              const Array& first, const tree::Tree& cache,
                                              const std::optional<Array>& only = {}) const = 0;

  /// An empty cache of `pages` pages of `page_size` positions, which sequences share.
  virtual tree::Tree init_pages(std::int64_t pages, std::int64_t page_size) const;
  /// Reads a batch into the cache: each token sees the tokens of its own sequence up to itself.
  /// Returns the logits of each row's last token, (B, V) f32, or of all tokens, (B, S, V), and the
  /// cache with these tokens; what is beyond a row's count is neither written nor meant. The bits
  /// of a row's logits depend on its sequence alone: not on other rows, on how it was cut into
  /// calls, or on where its pages are. Throws Error where the family has no such cache.
  virtual std::pair<Array, tree::Tree> extend_pages(const tree::Tree& params, const Batch& batch,
                                                    const tree::Tree& cache,
                                                    bool all_tokens = false) const;

  /// Number of weights.
  virtual std::int64_t count() const;
  /// Arithmetic operations of one training step on B x S tokens.
  virtual double flops_per_step(std::int64_t batch, std::int64_t length) const = 0;
};
/// Cross-entropy in nats of each of the targets (B, S) under logits (B, S, V): (B, S), f32 (f64 of
/// f64).
Array cross_entropies(const Array& logits_BSV, const Array& targets_BS);

/// Shared and unchanging.
using ModelPtr = std::shared_ptr<const Model>;

}  // namespace strata::model
