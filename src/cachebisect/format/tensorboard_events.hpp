// Event files of TensorBoard: records of TensorFlow that hold messages of type Event
// (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachebisect {

/// When something was measured.
struct EventTime {
  double seconds = 0;      ///< since 1970
  std::uint64_t step = 0;  ///< the horizontal axis
};

/// The content of one event file.
class TensorboardEvents {
 public:
  explicit TensorboardEvents(double started);  ///< in seconds since 1970
  /// A point of the curve `tag`. What is before the first / of a tag groups the curves.
  void add_scalar(std::string_view tag, const EventTime& time, double value);
  /// Markdown, shown among the texts.
  void add_text(std::string_view tag, const EventTime& time, std::string_view markdown);
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace cachebisect
