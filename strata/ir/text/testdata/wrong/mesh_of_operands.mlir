// mesh_of_operands.mlir:3:64: a mesh has neither operands nor results
module {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "m"}> : () -> tensor<f32>
}
