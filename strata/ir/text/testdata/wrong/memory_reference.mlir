// memory_reference.mlir:2:22: type is not supported
func.func private @f(memref<2xf32>)
