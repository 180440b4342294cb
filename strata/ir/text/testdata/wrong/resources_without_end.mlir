// resources_without_end.mlir:4:1: '{-#' without its '#-}'
module {
}
{-#
  dialect_resources: {}
