// ?
func.func @f() {
  call @g() : () -> ()
  return
}
func.func @g() {
  call @f() : () -> ()
  return
}
