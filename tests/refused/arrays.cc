// Arrays are values: what would change one in place, or drops a result, is refused.

// ---- an element of an array is assigned
//! x[i] is a new array, and assigning to it changes nothing: write x = x.at(i).set(y)
void f(Array x) { x[0] = 5.0f; }

// ---- an element of an array is assigned an array
//! x[i] is a new array, and assigning to it changes nothing
void f(Array x) { x[{0, slice(1)}] = x[1]; }

// ---- an element of an array is added to
//! x[i] is a new array, and assigning to it changes nothing
void f(Array x) { x[0] += 5; }

// ---- the result of an update is dropped
//! arrays do not change in place: what a function makes is its result
//! lines 3
void f(Array x) { x.at(0).set(5); }

// ---- an update is dropped
//! ignoring return value
//! lines 3
void f(Array x) { x.at(0); }

// ---- the result of an operator is dropped
//! arrays do not change in place
//! lines 3
void f(Array x) { x + 1; }

// ---- the result of a function is dropped
//! arrays do not change in place
//! lines 3
void f(Array x) { numpy::exp(x); }

// ---- several results of a function are dropped
//! ignoring return value
//! lines 3
void f(Array x) { numpy::split(x, 2); }

// ---- the result of a decomposition is dropped
//! ignoring return value
//! lines 3
void f(Array x) { numpy::linalg::qr(x); }

// ---- random bits are dropped
//! arrays do not change in place
//! lines 3
void f(random::Key key) { random::normal(key, {3}); }

// ---- a key's halves are dropped
//! ignoring return value
//! lines 3
void f(random::Key key) { random::split(key); }

// ---- arrays that have names are assigned
//! nothing
void f(Array x, std::vector<Array> xs, Array& y) {
  x = 5.0f;
  x = x.at(0).set(5);
  x += 1;
  xs[0] = x;
  y = xs[0];
  std::tie(x, y) = std::pair(y, x);
  (void)x.at(0).set(5);
}
