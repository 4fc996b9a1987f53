#include "cachebisect/doctor/storage_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

std::string name_of_size(std::size_t read_bytes, const StorageWords& words) {
  return read_bytes == 0 ? words.wholes : format_bytes(static_cast<double>(read_bytes));
}

std::vector<std::string> cells(const std::optional<ReadRate>& rate) {
  if (!rate || rate->bytes_per_second <= 0) return {"-", "-"};
  return {format_bytes(rate->bytes_per_second) + "/s",
          rate->reads == 0 ? "-" : short_duration(rate->median_seconds)};
}

std::string heading(const StorageFacts& facts) {
  std::string text = "Storage of " + facts.folder + ", ";
  if (facts.own_file) return text + "which has too little to read: a file of ours.";
  text += "at random places of " + counted(facts.files, "file");
  return text + " (" + format_bytes(facts.median_file_bytes) + " each, median).";
}

/// Whole files, if they were read; else the longest reads that are not longer than a sample.
std::vector<StorageRow> rows_like(const std::vector<StorageRow>& all, const StorageNeeds& needs) {
  std::size_t best = all.front().read_bytes;
  for (const StorageRow& row : all) {
    const bool fits = static_cast<double>(row.read_bytes) <= needs.bytes_per_sample;
    if (row.read_bytes == 0 || fits) best = row.read_bytes;
  }
  std::vector<StorageRow> rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [&](const StorageRow& row) { return row.read_bytes == best; });
  return rows;
}

double best_known_rate(const StorageRow& row) {
  const auto& rate = row.disk ? row.disk : row.memory;
  return rate ? rate->bytes_per_second : 0;
}

}  // namespace

document::Table rows_table(const std::vector<StorageRow>& rows, const StorageWords& words) {
  document::Table table{.columns = {{"reads of"},
                                    {"in flight", Align::right},
                                    {words.first, Align::right},
                                    {"each", Align::right},
                                    {words.again, Align::right},
                                    {"each", Align::right}}};
  for (const StorageRow& row : rows) {
    document::Row line{name_of_size(row.read_bytes, words), std::to_string(row.in_flight)};
    for (const auto& rate : {row.disk, row.memory}) {
      for (std::string& cell : cells(rate)) line.emplace_back(std::move(cell));
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string needs_sentence(const std::vector<StorageRow>& rows, const StorageWords& words,
                           const StorageNeeds& needs) {
  const std::vector<StorageRow> like = rows_like(rows, needs);
  const std::string what = like.front().read_bytes == 0
                               ? words.wholes
                               : "reads of " + name_of_size(like.front().read_bytes, words);
  std::string text = needs.name + " needs " + format_bytes(needs.bytes_per_second) +
                     "/s so that its training step never waits, " +
                     format_bytes(needs.bytes_per_sample) + " per sample: ";
  const auto enough = std::ranges::find_if(
      like, [&](const StorageRow& row) { return best_known_rate(row) >= needs.bytes_per_second; });
  if (enough != like.end()) {
    return text + what + " give " + format_bytes(best_known_rate(*enough)) + "/s with " +
           std::to_string(enough->in_flight) + " in flight.";
  }
  const auto most = std::ranges::max_element(like, {}, best_known_rate);
  return text + what + " give " + format_bytes(best_known_rate(*most)) + "/s at most, with " +
         std::to_string(most->in_flight) + " in flight.";
}

Document storage_document(const StorageFacts& facts, const std::optional<StorageNeeds>& needs) {
  Document all;
  if (!facts.problem.empty()) {
    all.say("Storage of " + facts.folder + ": " + facts.problem + ".");
    return all;
  }
  all.say(heading(facts));
  all.add(rows_table(facts.rows, StorageWords()));
  all.gap();
  if (needs && !facts.rows.empty()) all.say(needs_sentence(facts.rows, StorageWords(), *needs));
  return all;
}

}  // namespace cachebisect
