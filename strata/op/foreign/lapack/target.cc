// @lapack_spotrf_ffi and its like: which routine a target's name means.
#include <map>

#include "strata/op/foreign/lapack/call.h"

namespace strata::op {
namespace lapack {

std::optional<Matrices> matrices(const Type& type) {
  if (!type.is_tensor() || type.rank() < 2 || !type.shape().is_static()) return std::nullopt;
  std::vector<std::int64_t> sizes = type.shape().sizes();
  std::int64_t columns = sizes.back(), rows = sizes[sizes.size() - 2], batch = 1;
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) batch *= sizes[i];
  if (rows > INT32_MAX || columns > INT32_MAX) return std::nullopt;
  return Matrices{static_cast<int>(rows), static_cast<int>(columns), batch};
}

char letter(const foreign::Call& call, const char* name) {
  Result<foreign::Dictionary> attributes = foreign::attributes_of(call.attrs);
  const foreign::Attribute* found = attributes ? attributes->find(name) : nullptr;
  std::optional<std::int64_t> value = found ? found->integer() : std::nullopt;
  return value && *value > 0 && *value < 128 ? static_cast<char>(*value) : '\0';
}

Status wrong(const foreign::Call& call) {
  return Status(Code::invalid, "@{} is given operands, results or attributes that are not its own",
                call.target);
}

namespace {

using Targets = std::map<std::string, Bind, std::less<>>;

Targets all() {
  Targets out;
  auto add = [&](const char* real, const char* complex, Bind (*bind)(char)) {
    for (char type : {'s', 'd'})
      out.emplace(fmt::format("lapack_{}{}_ffi", type, real), bind(type));
    for (char type : {'c', 'z'})
      out.emplace(fmt::format("lapack_{}{}_ffi", type, complex), bind(type));
  };
  add("potrf", "potrf", bind_potrf);
  add("getrf", "getrf", bind_getrf);
  add("geqrf", "geqrf", bind_geqrf);
  add("orgqr", "ungqr", bind_orgqr);
  add("trsm", "trsm", bind_trsm);
  add("gesdd", "gesdd", bind_gesdd);
  add("syevd", "heevd", bind_syevd);
  add("geev", "geev", bind_geev);
  add("gees", "gees", bind_gees);
  add("gehrd", "gehrd", bind_gehrd);
  add("sytrd", "hetrd", bind_sytrd);
  add("gtsv", "gtsv", bind_gtsv);
  return out;
}

}  // namespace
}  // namespace lapack

bool is_lapack(std::string_view target) {
  static const lapack::Targets& targets = *new lapack::Targets(lapack::all());
  return targets.find(target) != targets.end();
}

Result<foreign::Bound> bind_lapack(const foreign::Call& call) {
  static const lapack::Targets& targets = *new lapack::Targets(lapack::all());
  return targets.at(call.target)(call);
}

}  // namespace strata::op
