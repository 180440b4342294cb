// argument_attributes_of_numbers.mlir:2:1: 'arg_attrs': expected '{'
"func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f", arg_attrs = [1]}> ({
^bb0(%a: tensor<f32>):
  "func.return"() : () -> ()
}) : () -> ()
