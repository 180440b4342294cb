// Random programs of the whole vocabulary, for property tests.
//
//   RandomGraph g = random_graph(seed, {.operations = 40});
//   auto f = g.build();                                    // from g.arguments to the last values
//
// Each step is an operation's sample (op/samples.h) on values that there are: an operand is the
// sample's own or an earlier value fitted to the sample's type, within the range of the sample's
// elements, so that it stays in the operation's domain. Which operations there are the catalog
// says: all whose samples are arrays and that have a lowering. Branches and loops hold steps of
// their own. Any step may be left out and a program remains, which is how failing ones are made
// small.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/op/samples.h"

namespace strata::op::testing {

struct GraphStep {
  enum class Kind : std::uint8_t { operation, if_, case_, while_ };
  Kind kind = Kind::operation;
  const OpDef* def = nullptr;
  std::size_t sample = 0;  // which of the operation's
  std::vector<unsigned>
      feeds;  // for each operand: 0 the sample's own, else which value, the newest first
  std::vector<GraphStep> body;  // of a branch or a loop
};

struct RandomGraph {
  Literals arguments;
  std::vector<GraphStep> steps;
  std::size_t results = 6;
  /// Results: the last values, at most that many.
  std::unique_ptr<Block> build() const;
  /// The operations in order, nested ones indented.
  std::string to_text() const;
};

struct GraphOptions {
  int operations = 40;
  /// Only steps that can be differentiated, of f64: samples marked smooth of operations with a
  /// forward derivative.
  bool smooth = false;
};
RandomGraph random_graph(std::uint64_t seed, const GraphOptions& options = {});
/// Every program that has one step less, the body of one in its place, an operand less from
/// elsewhere, or a result less.
std::vector<RandomGraph> smaller(const RandomGraph& graph);

/// Whether a program may hold the sample: arrays of static shape, not too many elements, no
/// effects, a lowering or decomposition.
bool may_compose(const OpDef& def, const Sample& sample);

}  // namespace strata::op::testing
