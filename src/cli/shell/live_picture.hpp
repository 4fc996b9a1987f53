// A moving picture of what is measured: a bar per boundary, redrawn in place.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect::cli {

/// On standard error; draws nothing unless enabled. Not thread safe.
class LivePicture {
 public:
  /// `stages` are the names of the chain.
  LivePicture(std::vector<std::string> stages, const TextOptions& text, bool enabled);
  ~LivePicture();
  LivePicture(const LivePicture&) = delete;
  LivePicture& operator=(const LivePicture&) = delete;

  /// The arm that has just been measured.
  void show(const Progress& progress);
  /// What is known by now.
  void show(const Report& report);
  void clear();

 private:
  void draw();
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] std::string row(int boundary, double fastest) const;

  std::vector<std::string> stages_;
  TextOptions text_;
  bool enabled_;
  Progress now_;
  std::vector<double> rates_;  ///< samples/s by boundary; 0: not known
  std::size_t drawn_ = 0;      ///< lines
  double last_seconds_ = -1;
};

}  // namespace cachebisect::cli
