// Functions that append operations with regions: loops, branches, rematerialisation, custom
// derivatives.
//
//   Values out = op::scan(b, std::move(body), consts, {carry}, {xs}, {.length = 10});
//
// Blocks given to `scan`, `remat`, `custom_jvp` and `custom_vjp` must be isolated (ir::close_over
// makes them so: what it returns becomes further operands); those of `while_`, `case_` and `if_`
// may use values of the blocks around them.
#pragma once

#include <string>

#include "strata/op/def.h"

namespace strata::op {

using BlockPtr = std::unique_ptr<Block>;

/// `length` steps, last to first where `reverse`. Body: (consts..., carries..., slices of xs...) ->
/// (carries..., slices of ys...). Returns the last carries and the stacked ys. Consts and xs that
/// the body does not use are dropped.
struct ScanOptions {
  std::int64_t length = 0;
  bool reverse = false;
};
Values scan(Builder& b, BlockPtr body, Values consts, Values carries, Values xs,
            ScanOptions options);

/// While `cond`(carries...) holds, carries = `body`(carries...).
Values while_(Builder& b, BlockPtr cond, BlockPtr body, Values carries);
/// Branch number `index`, a scalar i32; the last one when it is out of range. Branches have no
/// arguments.
Values case_(Builder& b, Value* index, std::vector<BlockPtr> branches);
/// `predicate` is a scalar i1.
Values if_(Builder& b, Value* predicate, BlockPtr then, BlockPtr otherwise);

/// `body` on `operands`; under reverse-mode differentiation only what `policy` names is kept, the
/// rest is computed again. Policies: "nothing" "everything" "dots" "dots_no_batch" "names:a,b".
Values remat(Builder& b, BlockPtr body, Values operands, std::string policy = "nothing");
/// x itself, under a name that remat's policies know.
Value* name(Builder& b, Value* x, std::string name);

/// `primal` on `operands`, differentiated by `jvp`: (primals..., tangents...) -> (results...,
/// tangents of results...). There is one tangent for each primal and each result, of the same type;
/// those of booleans and integers are zeros, and ignored.
Values custom_jvp(Builder& b, BlockPtr primal, BlockPtr jvp, Values operands);
/// `primal` on `operands`, differentiated in reverse by `fwd`: (primals...) -> (results...,
/// residuals...) and `bwd`: (residuals..., cotangents of all results...) -> cotangents of the
/// operands numbered in `differentiable`.
Values custom_vjp(Builder& b, BlockPtr primal, BlockPtr fwd, BlockPtr bwd, Values operands,
                  ir::Ints differentiable);

/// `decompose` of operations that call their first region; and of those that give their operands
/// on.
Values call_first_region(Builder& b, const Op& op, std::span<Value* const> operands);
Values give_on(Builder& b, const Op& op, std::span<Value* const> operands);

/// A mutable cell with this initial value; its value now; a new value.
Value* ref_new(Builder& b, Value* initial);
Value* ref_get(Builder& b, Value* ref);
void ref_set(Builder& b, Value* ref, Value* value);

}  // namespace strata::op
