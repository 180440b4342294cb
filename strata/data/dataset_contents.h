// What a data set (dataset.h) tells: batches, its sources, and where tokens come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/type/literal.h"

namespace strata::data {

/// targets[b, s] is the token after tokens[b, s]; 0 where there is none.
struct Batch {
  Literal tokens;   // i32[B, S]
  Literal targets;  // i32[B, S]
  /// f32[B, S]: 1 for each target, 0 where there is none. Absent where every position has one,
  /// which depends on the window mode and on whether the batch is of evaluation, never on the step.
  std::optional<Literal> weights;
  /// i32[B, S], of packed conversations: which document of its row a token is of, from 1, 0 for
  /// none; and its place in that document. Absent where a row is one document.
  std::optional<Literal> segments, positions;
  /// Their sum: the targets that count.
  std::int64_t total_weights = 0;
};

/// What is known of a source.
struct SourceInfo {
  std::string name;                   // "kjv"
  std::vector<std::string> patterns;  // as given
  std::vector<std::string> files;     // that matched
  double weight = 1;                  // as given
  double share = 1;                   // of the first elements, 0 to 1
  std::int64_t documents = 0, tokens = 0;
  std::int64_t train_tokens = 0, eval_tokens = 0;
  std::int64_t windows = 0;    // of training, in one epoch
  std::uint32_t checksum = 0;  // of all tokens
};

/// Where a source stands before a step.
struct SourcePosition {
  std::int64_t elements = 0;  // read so far
  std::int64_t epoch = 0;     // the one that the next element is of
  std::int64_t index = 0;     // that element's place in the epoch
};

/// Where an element comes from.
struct ElementPlace {
  std::size_t source = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;    // number in the source
  std::int64_t token = 0;     // the first one's place in the source
  std::int64_t document = 0;  // the one that this token is of
  std::string file;           // which holds that document
};

/// What a stretch of a row is of: tokens of one record.
struct TokenPlace {
  /// Positions in the row: first .. first + count - 1.
  std::int64_t first = 0, count = 0;
  std::string file;
  /// The document's number in the file, from 0; empty texts are none.
  std::int64_t record = 0;
  /// The first token's place in the document.
  std::int64_t token = 0;
  /// Where each token begins in the record's text, in bytes, and where the last one ends: count + 1
  /// numbers. The separator behind a document has no bytes. Of tokens that a file holds as such,
  /// the bytes that the tokenizer makes of them. Of conversations, bytes of the text that the
  /// template makes of one.
  std::vector<std::int64_t> bytes;
};

}  // namespace strata::data
