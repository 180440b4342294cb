// mesh_without_name.mlir:3:13: sdy.mesh requires sym_name and mesh
module {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>}> : () -> ()
}
