// Products whose kernel was compiled with the library (loop/kernel/product.h): those of programs
// whose code serves every size.
//
// The code that gemm_kernel.h makes has a product's sizes in its tiles, blocks and steps; hardly
// two sizes share it. It is faster, fuses with its neighbours, and takes LLVM some milliseconds:
// right for what runs often, wrong for an operation that runs once. Both give the same bits.
#pragma once

#include <chrono>
#include <memory>

#include "strata/compile/llvm/target.h"
#include "strata/op/def.h"

namespace strata::compile {

/// About what the code of a product takes to make.
inline constexpr std::chrono::milliseconds kGemmCode{20};

/// The block with its products marked, if the kernel takes them all; else null. Left to generated
/// code are blocks with loops or branches, products of many windows (convolutions, whose windows
/// are in memory for the kernel), of types that the kernel does not know, of bf16 where the
/// processor adds their pairs, and so large ones that their code is made in less time than they
/// take.
std::unique_ptr<ir::Block> with_precompiled_gemms(const ir::Block& block, const CpuTarget& target);
/// Whether a product is marked.
bool is_precompiled_gemm(const ir::Op& op);
/// Whether it is a product and not marked.
bool is_generated_gemm(const ir::Op& op);

/// How a marked product is lowered.
const op::Native& precompiled_gemm();

}  // namespace strata::compile
