// Files of scores: a first line that says how they were made, then one line per result.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "cachebisect/selftest/score.hpp"

namespace cachebisect::truth {

struct ScoreFile {
  std::string method;
  std::string mode;  ///< "simulated, white noise 1%", "real time, 1 hog"
  double budget_seconds = 60;
  std::string machine;
  std::string date;
  std::string git;
  std::vector<selftest::Score> scores;
};

/// A file without scores, of this revision and this day. `machine`: empty for the present one.
ScoreFile new_score_file(const std::string& method, const std::string& mode, double budget_seconds,
                         const std::string& machine = "");

/// The lines after the first one that are complete; `header` gets the first line's content. Throws
/// Error(usage) if that is not the first line of a file of scores.
std::vector<std::string> read_lines(const std::string& file, ScoreFile& header);

/// Throws Error(usage) for a file that does not hold scores.
ScoreFile load_scores(const std::string& file);

/// Appends lines to a file of scores, which begins with the line of its header. Not thread safe.
class ScoreLines {
 public:
  /// Opens the file, or makes it; an empty path keeps nothing. Throws Error(usage) if the file was
  /// made with another method, mode or budget, and Error(output) if it cannot be written.
  ScoreLines(const ScoreFile& header, const std::string& path);
  /// The lines that the file held when it was opened.
  [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
  /// Throws Error(output) if the line cannot be written.
  void append(const std::string& line);

 private:
  std::vector<std::string> lines_;
  std::ofstream out_;
};

}  // namespace cachebisect::truth
