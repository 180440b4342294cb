// What partitioning decided, in words.
#pragma once

#include <string>

#include "strata/partition/partition.h"
#include "strata/partition/propagate.h"

namespace strata::spmd {

/// Lines for the mesh, for each value that is cut or annotated (its layout and whose annotation
/// each axis came from), for each collective (its bytes, the operation that asked for it, and by
/// whose annotation), for what each annotation costs, and for the bytes that a device holds.
std::string explain(const ir::Function& f, const std::string& mesh_name, const mesh::Mesh& mesh,
                    const Meshes& meshes, const Shardings& shardings, const Grid& grid,
                    const Partitioned& program);

}  // namespace strata::spmd
