// argument_attributes_of_no_list.mlir:2:1: 'arg_attrs' is no list of attributes
"func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f", arg_attrs = 1}> ({
^bb0(%a: tensor<f32>):
  "func.return"() : () -> ()
}) : () -> ()
