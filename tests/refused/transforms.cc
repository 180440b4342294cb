// Transforms say what they take: arrays, and trees of arrays.

// ---- the function of jit takes a struct that is no tree
//! an argument is neither an array nor a tree of arrays: a struct becomes one by STRATA_FIELDS
struct Params {
  Array w, b;
};
auto f(Params p) {
  return jit([](Params p) { return p.w; })(p);
}

// ---- the function of grad takes a struct that is no tree
//! a struct becomes one by STRATA_FIELDS(its members)
struct Params {
  Array w, b;
};
auto f(Params p) {
  return grad([](Params p) { return sum(p.w); })(p);
}

// ---- the function of vmap takes a struct that is no tree
//! a struct becomes one by STRATA_FIELDS(its members)
struct Params {
  Array w, b;
};
auto f(Params p) {
  return vmap([](Params p) { return p.w; })(p);
}

// ---- the function of jit takes a list of what is no tree
//! a struct becomes one by STRATA_FIELDS(its members)
struct Params {
  Array w, b;
};
auto f(std::vector<Params> p) {
  return jit([](std::vector<Params> p) { return p[0].w; })(p);
}

// ---- the function of jit returns what is no tree
//! the function returns neither an array nor a tree of arrays
struct Params {
  Array w, b;
};
auto f(Array x) {
  return jit([](Array x) { return Params{x, x}; })(x);
}

// ---- the function of jit returns nothing
//! the function returns neither an array nor a tree of arrays
void f(Array x) {
  jit([](Array) {})(x);
}

// ---- a function gets too few arguments
//! the function does not take these arguments: look at their number and types
auto f(Array x) {
  return jit([](Array x, Array y) { return x + y; })(x);
}

// ---- grad of several arrays
//! grad needs a function that returns an Array, or pair{Array, aux}
auto f(Array x) {
  return grad([](Array x) { return std::vector{x, x}; })(x);
}

// ---- grad by an argument that is not there
//! argument number out of range
auto f(Array x) {
  return grad<1>([](Array x) { return sum(x); })(x);
}

// ---- a transformed function is not called
//! ignoring return value
//! lines 3
void f() {
  grad([](Array x) { return sum(x); });
}

// ---- results of a function of jit are dropped
//! ignoring return value
//! lines 3
void f(Array x) {
  jit([](Array x) { return std::pair(x, x); })(x);
}

// ---- results of vmap are dropped
//! ignoring return value
//! lines 3
void f(Array x) {
  vmap([](Array x) { return std::pair(x, x); })(x);
}

// ---- results of grad are dropped
//! ignoring return value
//! lines 3
void f(Array x) {
  value_and_grad([](Array x) { return sum(x); })(x);
}

// ---- trees of trees
//! nothing
struct Layer {
  Array w;
  std::optional<Array> bias;
  double epsilon = 1e-5;
  std::vector<Layer> inner;
  STRATA_FIELDS(w, bias, epsilon, inner)
};
auto f(Layer p) {
  return jit([](std::map<std::string, Layer> p) { return p; })(
      std::map<std::string, Layer>{{"a", p}});
}
