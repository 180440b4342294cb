// foreign_type.mlir:2:22: type is not supported
func.func private @f(!foo.bar)
