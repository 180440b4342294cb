// argument_attributes_of_two.mlir:2:1: 'arg_attrs' has 2 entries for 1 values
"func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f", arg_attrs = [{}, {}]}> ({
^bb0(%a: tensor<f32>):
  "func.return"() : () -> ()
}) : () -> ()
