// A program with shardings as the program of each device: propagated, cut over the grid of its
// mesh, and what was decided in words.
//
//   PartitionedProgram p = partition_program(*module.entry(), module);
//   std::cout << p.explanation;
//
// The mesh is that of the shardings; a module whose functions carry none but which declares a mesh
// is computed whole on each of its devices. What an argument or result is cut over must divide it:
// axes that do not are left out there (docs of Shardy,
// "update_non_divisible_input_output_shardings"). Where their user did not state it, arguments and
// results are cut over whole axes alone, since frameworks cannot spell parts of them: a dimension's
// sharding ends before its first part of an axis ("remove_sub_axes_in_input_output_shardings").
#pragma once

#include <memory>
#include <string>

#include "strata/partition/partition.h"
#include "strata/partition/propagate.h"

namespace strata::spmd {

struct PartitionedProgram {
  std::unique_ptr<ir::Function> function;  // of one device
  Grid grid;
  /// Of arguments and results, in Shardy's form (closed) and as layouts on `grid`.
  std::vector<Sharding> argument_shardings, result_shardings;
  std::vector<Layout> arguments, results;
  /// Of arguments and results of which devices hold addends.
  std::vector<Addends> argument_addends, result_addends;
  std::vector<Move> moves;
  /// How values are sharded and by whose annotation, each collective with the bytes that a device
  /// receives, and the bytes of arguments, constants and results that a device holds.
  std::string explanation;
};

/// Brings a module into the form that partition_program takes: HLO's sharding strings in Shardy's
/// terms (gspmd.h), groups of devices as lists (mesh_groups.h), one mesh (one_mesh.h). Throws as
/// these.
void normalize(ir::Module& module);

/// `f` has neither calls nor dynamic shapes (ir::inline_calls, transform::refine). Throws
/// strata::Error for shardings that do not fit, and for two meshes of different devices in one
/// program.
PartitionedProgram partition_program(const ir::Function& f, const ir::Module& module,
                                     const PartitionOptions& options = {});

/// Adds the passes `gspmd-to-shardy` (gspmd.h), `sdy-propagate` (shardings of all values as
/// attributes) and `partition` (entry functions become the program of each device), which
/// strata-opt runs.
void add_partition_passes();

}  // namespace strata::spmd
