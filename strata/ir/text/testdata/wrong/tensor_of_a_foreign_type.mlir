// tensor_of_a_foreign_type.mlir:2:31: element type is not supported
func.func private @f(tensor<2x!foo.bar>)
