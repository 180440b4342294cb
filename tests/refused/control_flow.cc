// Bodies and branches of control flow say what they take and return.

// ---- the body of scan returns no pair
//! the body of scan returns std::pair(carry, y); without outputs y is nullptr
auto f(Array x) {
  return scan([](Array c, Array x) { return c + x; }, x[0], x);
}

// ---- the body of scan takes one argument
//! the body of scan takes (carry, x): a carry like the initial one, and an element of xs
auto f(Array x) {
  return scan([](Array c) { return std::pair(c, c); }, x[0], x);
}

// ---- the body of scan returns several arrays as its carry
//! the body of scan returns std::pair(carry, y) with a carry like the initial one
auto f(Array x) {
  return scan([](Array c, Array) { return std::pair(std::pair(c, c), c); }, x, x);
}

// ---- the output of scan's body is no tree
//! the y of std::pair(carry, y) is a tree of arrays, or nullptr
struct Plain {
  Array a;
};
auto f(Array x) {
  return scan([](Array c, Array) { return std::pair(c, Plain{c}); }, x, x);
}

// ---- the condition of while_loop is no array
//! the condition of while_loop returns an array, one boolean
auto f(Array x) {
  return while_loop([](Array c) { return std::pair(c, c); }, [](Array c) { return c; }, x);
}

// ---- the body of while_loop returns another carry
//! the body of while_loop returns a carry like the initial one
auto f(Array x) {
  return while_loop([](Array c) { return c < 3; }, [](Array c) { return std::pair(c, c); }, x);
}

// ---- the body of while_loop returns nothing
//! the body of while_loop returns a carry like the initial one
auto f(Array x) {
  return while_loop([](Array c) { return c < 3; }, [](Array) {}, x);
}

// ---- the body of while_loop takes two arguments
//! the condition and the body of while_loop take one argument, a carry like the initial one
auto f(Array x) {
  return while_loop([](Array c) { return c < 3; }, [](Array c, Array) { return c; }, x);
}

// ---- the body of fori_loop does not take the index
//! the body of fori_loop takes (i, x): an Array, and a value like the initial one
auto f(Array x) {
  return fori_loop(0, 3, [](Array x) { return x; }, x);
}

// ---- the body of fori_loop returns another value
//! the body of fori_loop returns a value like the initial one
auto f(Array x) {
  return fori_loop(Array(0), x, [](Array, Array x) { return std::vector{x}; }, x);
}

// ---- the branches of cond return different types
//! both branches of cond return the same C++ type
auto f(Array x) {
  return cond(x > 0, [](Array x) { return x; }, [](Array x) { return std::vector{x}; }, x);
}

// ---- a branch of cond does not take the operand
//! a branch takes the operands that cond and switch_ are given behind the branches
auto f(Array x) {
  return cond(x > 0, [] { return Array(1); }, [](Array x) { return x; }, x);
}

// ---- a branch of switch_ returns what is no tree
//! a branch returns an array or a tree of arrays
struct Plain {
  Array a;
};
auto f(Array x) {
  return switch_(x, std::vector{[](Array x) { return Plain{x}; }}, x);
}

// ---- the function of map returns nothing
//! the function returns neither an array nor a tree of arrays
auto f(Array x) {
  return map([](Array) {}, x);
}

// ---- the result of a loop is dropped
//! arrays do not change in place
//! lines 3
void f(Array x) {
  fori_loop(0, 3, [](Array, Array x) { return x * 2; }, x);
}

// ---- bodies and branches return C++ scalars
//! nothing
void f(Array x) {
  Array a = cond(x > 0, [](Array x) { return x; }, [](Array) { return 0.0f; }, x);
  std::pair<Array, Array> b = scan([](Array c, Array) { return std::pair(c, 1); }, 0, x);
  Array c = while_loop([](Array) { return false; }, [](Array c) { return c; }, 1.5);
  Array d = fori_loop(
                0, 3, [](Array, std::pair<Array, Array>) { return std::pair(1, 2.0f); },
                std::pair(0, 0.0f))
                .second;
  Array e = vmap([](Array) { return 2.0f; })(x);
  Array g = map([](Array) { return 2.0f; }, x);
}

// ---- the results of scan are dropped
//! ignoring return value
//! lines 3
void f(Array x) {
  scan([](Array c, Array x) { return std::pair(c, x); }, 0, x);
}
