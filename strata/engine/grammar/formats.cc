#include "strata/engine/grammar/formats.h"

#include <map>
#include <string>

namespace strata::engine::grammar {

const char* format_expression(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> all = [] {
    const std::string leap =
        "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
    const std::string date =
        "(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(?:(?:0[13578]|1[02])-"
        "(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-"
        "8]))|" +
        leap + "-02-29)";
    const std::string time =
        "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):"
        "[0-5][0-9])";
    const std::string label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?";
    const std::string host = label + "(?:\\." + label + "){0,6}";
    const std::string octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    const std::string h = "[0-9a-fA-F]{1,4}";
    const std::string six = "(?:" + h + ":){7}" + h + "|(?:" + h + ":){1,7}:|(?:" + h +
                            ":){1,6}:" + h + "|(?:" + h + ":){1,5}(?::" + h + "){1,2}|(?:" + h +
                            ":){1,4}(?::" + h + "){1,3}|(?:" + h + ":){1,3}(?::" + h +
                            "){1,4}|(?:" + h + ":){1,2}(?::" + h + "){1,5}|" + h + ":(?::" + h +
                            "){1,6}|:(?::" + h + "){1,7}|::";
    const std::string pchar = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})";
    return std::map<std::string, std::string, std::less<>>{
        {"date", date},
        {"time", time},
        {"date-time", date + "T" + time},
        {"duration",
         "P(?:[0-9]{1,9}W|(?:[0-9]{1,9}Y(?:[0-9]{1,9}M(?:[0-9]{1,9}D)?)?|[0-9]{1,9}M(?:[0-9]{1,9}D)"
         "?|[0-9]{1,9}D)(?:T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}"
         "S)?|[0-9]{1,9}S))?|T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,"
         "9}S)?|[0-9]{1,9}S))"},
        {"email",
         "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,16}(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,15}){"
         "0,3}@" +
             host},
        {"hostname", host},
        {"ipv4", octet + "(?:\\." + octet + "){3}"},
        {"ipv6", six},
        {"uri", "[A-Za-z][A-Za-z0-9+.-]*://" + host + "(?::[0-9]{1,4})?(?:/" + pchar +
                    "*)*(?:\\?(?:" + pchar + "|[/?])*)?(?:#(?:" + pchar + "|[/?])*)?"},
        {"uuid", "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"},
        {"json-pointer", "(?:/(?:[^/~]|~[01])*)*"},
    };
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second.c_str();
}

}  // namespace strata::engine::grammar
