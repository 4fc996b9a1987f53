#include "cachebisect/http/read_refusal.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

constexpr long kWholeStatus = 200;
constexpr long kOutsideRangeStatus = 416;

std::string after_tries(const Tried& tried) {
  if (tried.tries < 2) return "";
  return "; tried " + std::to_string(tried.tries) + " times in " + format_seconds(tried.seconds);
}

[[noreturn]] void refuse_object(const ObjectAddress& object, const std::string& what) {
  throw Error(ErrorKind::data, object.shown + ": " + what);
}

}  // namespace

ObjectFacts facts_of(const ObjectAddress& object, const HttpResult& result) {
  if (!result.object_bytes) refuse_object(object, "the server does not say how large it is");
  return {.bytes = *result.object_bytes, .tag = result.tag};
}

void require_same(const ObjectAddress& object, const ObjectFacts& known, const HttpResult& result) {
  const bool other_tag = !known.tag.empty() && !result.tag.empty() && known.tag != result.tag;
  if (!other_tag && result.object_bytes.value_or(known.bytes) == known.bytes) return;
  refuse_object(object, "it was changed while it was in use; run again");
}

std::string read_refusal(const ObjectAddress& object, const HttpRead& wanted,
                         const HttpResult& result, const Tried& tried) {
  std::string what = result.problem;
  if (result.outcome == HttpResult::Outcome::throttled) {
    what = object.shown + ": the server gives no more for now (HTTP status " +
           std::to_string(result.status) + ")";
    if (tried.asked_seconds > 0) {
      what += ", and asks for a pause of " + format_seconds(tried.asked_seconds);
    }
  }
  if (wanted.begin && result.status == kWholeStatus) {
    what += "; samples are read by ranges, which it must answer";
  }
  if (result.status == kOutsideRangeStatus) what += ": it is empty, or was cut short";
  what += after_tries(tried);
  if (!object.access) return what;
  const auto remedy = object.access->remedies.find(result.status);
  return remedy == object.access->remedies.end() ? what : what + "; " + remedy->second;
}

}  // namespace cachebisect
