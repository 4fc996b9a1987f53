#include "cachebisect/report/words/storage_text.hpp"

#include <algorithm>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/report/storage_use.hpp"

namespace cachebisect {
namespace {

/// "1 file", "2.5 reads".
std::string counted_per_sample(const StorageCounts& counts, std::uint64_t count,
                               const std::string& noun) {
  const std::string number = format_number(per_sample(counts, static_cast<double>(count)));
  return number + ' ' + noun + (number == "1" ? "" : "s");
}

std::string requests_text(const StorageCounts& counts) {
  if (counts.requests == 0) return {};
  std::string text = "makes " + counted_per_sample(counts, counts.requests, "request") + " of " +
                     short_duration(seconds_per_request(counts)) + ", at most " +
                     std::to_string(counts.most_in_flight) + " at once in a worker";
  if (connects_each_time(counts)) text += ", each over a new connection";
  if (makes_clients(counts)) text += ", by a new client for each sample";
  return text;
}

std::string files_text(const StorageCounts& counts) {
  if (counts.file_reads == 0) return {};
  std::string text;
  if (counts.file_opens.value_or(0) > 0) {
    text = "opens " + counted_per_sample(counts, *counts.file_opens, "file") + " and ";
  }
  text += "takes " + counted_per_sample(counts, counts.file_reads, "read");
  if (counts.requests > 0 || counts.waiting_seconds <= 0) return text;
  return text + ", for which it waits " +
         short_duration(per_sample(counts, counts.waiting_seconds));
}

std::string bytes_text(const StorageCounts& counts, const std::vector<StageReport>& stages) {
  std::string text;
  if (counts.received_bytes > 0) {
    text = "receives " + format_bytes(per_sample(counts, counts.received_bytes));
  }
  if (counts.file_bytes > 0) {
    text += (text.empty() ? "" : " and ") + std::string("reads ") +
            format_bytes(per_sample(counts, counts.file_bytes));
    if (counts.disk_bytes) {
      text += ", " + percent(std::min(1.0, *counts.disk_bytes / counts.file_bytes)) +
              " of it from the disk";
    }
  }
  if (const auto unused = unused_bytes(counts, stages)) {
    text += ", for the " + format_bytes(unused->returned) + " that it returns";
  }
  return text;
}

}  // namespace

std::string storage_text(const Report& report) {
  if (!report.storage) return {};
  const StorageCounts& counts = *report.storage;
  std::string text;
  for (const std::string& part :
       {requests_text(counts), files_text(counts), bytes_text(counts, report.stages)}) {
    if (!part.empty()) text += (text.empty() ? " " : "; it ") + part;
  }
  return text.empty() ? text : "Reading a sample" + text + '.';
}

}  // namespace cachebisect
