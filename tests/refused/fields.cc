// STRATA_FIELDS lists all members.

// ---- a member is left out
//! STRATA_FIELDS leaves out a member of this struct: list all of them, or say STRATA_SOME_FIELDS
//! lines 28
struct Params {
  Array w, b;
  STRATA_FIELDS(w)
};
auto f(Params p) {
  return jit([](Params p) { return p.w + p.b; })(p);
}

// ---- a static member is left out
//! STRATA_FIELDS leaves out a member of this struct
//! lines 28
struct Params {
  Array w;
  int heads = 4;
  STRATA_FIELDS(w)
};
auto f(Params p) {
  return grad([](Params p) { return sum(p.w) * p.heads; })(p);
}

// ---- a member of a member is left out
//! STRATA_FIELDS leaves out a member of this struct
//! lines 40
struct Layer {
  std::vector<Array> w;
  std::optional<Array> bias;
  STRATA_FIELDS(w)
};
struct Params {
  std::vector<Layer> layers;
  STRATA_FIELDS(layers)
};
auto f(Params p) { return tree::leaves<Array>(p); }

// ---- all members are listed, whatever they are
//! nothing
struct Part {
  Array a[2];
  Array w;
  STRATA_SOME_FIELDS(w)
};
struct Base {
  Array base;
};
struct Whole : Base {
  Array w;
  std::vector<Array> list;
  std::array<Array, 3> array;
  std::pair<Array, Array> pair;
  std::tuple<Array, std::string> tuple;
  std::map<std::string, Array> map;
  std::optional<Array> maybe;
  std::variant<std::monostate, Array> either;
  std::string name;
  double epsilon = 1e-5;
  DType dtype;
  Part part;
  random::Key key;
  STRATA_FIELDS(base, w, list, array, pair, tuple, map, maybe, either, name, epsilon, dtype, part,
                key)
};
auto f(Whole p) { return tree::leaves<Array>(p); }
struct Empty {
  STRATA_FIELDS()
};
auto f(Empty p) { return tree::leaves<Array>(p); }
