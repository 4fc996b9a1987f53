#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/doctor/url_probe.hpp"
#include "cachebisect/format/text_page.hpp"

namespace cachebisect {
namespace {

std::string url_heading(const UrlFacts& facts) {
  std::string text = "Storage of " + printable(facts.server) + ", ";
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
  return text + "; " + format_count(facts.failed) +
         " failed, the first: " + printable(facts.first_failure) + ".";
}

}  // namespace

std::string to_text(const UrlFacts& facts, const std::optional<StorageNeeds>& needs,
                    const TextOptions& options) {
  const TextPage page(options);
  if (!facts.problem.empty()) {
    return wrap("Storage of " + printable(facts.server) + ": " + printable(facts.problem) + ".",
                page.prose, 0);
  }
  const StorageWords words{.wholes = "whole objects", .first = "first time", .again = "again"};
  std::string text = wrap(url_heading(facts), page.prose, 0) + rows_table(facts.rows, words, page) +
                     wrap(request_sentence(facts), page.prose, 0);
  if (needs && !facts.rows.empty()) {
    text += "\n" + wrap(needs_sentence(facts.rows, words, *needs), page.prose, 0);
  }
  return text;
}

}  // namespace cachebisect
