#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/doctor/url_probe.hpp"

namespace cachebisect {
namespace {

std::string url_heading(const UrlFacts& facts) {
  std::string text = "Storage of " + facts.server + ", ";
  text += facts.has_parts ? "at random places of " : "which sends no parts of objects: ";
  text += counted(facts.objects, "object") + " (" + format_bytes(facts.median_bytes) +
          (facts.objects > 1 ? " each, median)" : ")");
  if (facts.unreadable > 0) text += "; " + format_count(facts.unreadable) + " could not be read";
  return text + ".";
}

std::string request_sentence(const UrlFacts& facts) {
  std::string text = counted(facts.requests, "request") + " for " +
                     format_bytes(static_cast<double>(facts.bytes)) + " over " +
                     counted(facts.connections, "new connection");
  if (facts.connect_seconds > 0) {
    text += " (" + short_duration(facts.connect_seconds) + " each, median)";
  }
  text += facts.throttled == 0 ? "; none throttled"
                               : "; " + format_count(facts.throttled) +
                                     " throttled (429 or 503), which lowers the rates";
  if (facts.failed == 0) return text + ".";
  return text + "; " + format_count(facts.failed) + " failed, the first: " + facts.first_failure +
         ".";
}

}  // namespace

Document server_document(const UrlFacts& facts, const std::optional<StorageNeeds>& needs) {
  Document all;
  if (!facts.problem.empty()) {
    all.say("Storage of " + facts.server + ": " + facts.problem + ".");
    return all;
  }
  const StorageWords words{.wholes = "whole objects", .first = "first time", .again = "again"};
  all.say(url_heading(facts));
  all.add(rows_table(facts.rows, words));
  all.say(request_sentence(facts));
  all.gap();
  if (needs && !facts.rows.empty()) all.say(needs_sentence(facts.rows, words, *needs));
  return all;
}

}  // namespace cachebisect
