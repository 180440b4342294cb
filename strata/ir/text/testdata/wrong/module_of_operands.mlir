// module_of_operands.mlir:3:6: a module has neither operands nor results
"builtin.module"() ({
}) : (tensor<2xf32>) -> tensor<2xf32>
