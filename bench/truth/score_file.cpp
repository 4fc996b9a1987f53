#include "bench/truth/score_file.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/version.hpp"

namespace cachebisect::truth {

/// The first line of a file of scores.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreFile, method, mode, budget_seconds, machine, date, git)

namespace {

using Json = nlohmann::json;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string this_machine() {
  const MachineInfo machine = probe_machine();
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s, %g usable CPUs", machine.cpu.c_str(),
                machine.usable_cpus);
  return text.data();
}

}  // namespace

ScoreFile new_score_file(const std::string& method, const std::string& mode, double budget_seconds,
                         const std::string& machine) {
  return {.method = method,
          .mode = mode,
          .budget_seconds = budget_seconds,
          .machine = machine.empty() ? this_machine() : machine,
          .date = today(),
          .git = git_revision(),
          .scores = {}};
}

std::vector<std::string> read_lines(const std::string& file, ScoreFile& header) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw Error(ErrorKind::usage, file + ": no scores");
  try {
    Json::parse(line).get_to(header);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, file + ": not a file of scores: " + error.what());
  }
  std::vector<std::string> lines;
  while (std::getline(in, line)) {
    // The last line is cut if the run was killed while it wrote.
    if (line.ends_with('}')) lines.push_back(line);
  }
  return lines;
}

ScoreFile load_scores(const std::string& file) {
  ScoreFile result;
  for (const std::string& line : read_lines(file, result)) {
    result.scores.push_back(selftest::score_of(line));
  }
  return result;
}

ScoreLines::ScoreLines(const ScoreFile& header, const std::string& path) {
  if (path.empty()) return;
  const bool fresh = !std::filesystem::exists(path) || std::filesystem::file_size(path) == 0;
  if (!fresh) {
    ScoreFile before;
    lines_ = read_lines(path, before);
    if (before.method != header.method || before.mode != header.mode ||
        before.budget_seconds != header.budget_seconds) {
      throw Error(ErrorKind::usage, path + " holds scores of " + before.method + ", " +
                                        before.mode + ", not of this run; use another file");
    }
  }
  out_.open(path, std::ios::app);
  if (fresh) out_ << Json(header).dump() << '\n';
  if (!out_.flush()) throw Error(ErrorKind::output, "cannot write " + path);
}

void ScoreLines::append(const std::string& line) {
  if (out_.is_open() && !(out_ << line << '\n').flush()) {
    throw Error(ErrorKind::output, "cannot write the file of scores");
  }
}

}  // namespace cachebisect::truth
