// Log lines of the command, on standard error. The library logs nothing.
#pragma once

#include <string>
#include <string_view>

namespace cachebisect::cli {

enum class LogLevel { error, warn, info, debug };

/// Throws Error(usage) unless `text` is error, warn, info or debug.
LogLevel parse_log_level(const std::string& text);

/// Prints "cachebisect: message" on standard error, in one line that printable() has made safe.
void print_error(std::string_view message);

class Log {
 public:
  explicit Log(LogLevel level) : level_(level) {}
  void warn(std::string_view line) const { write(LogLevel::warn, line); }
  void info(std::string_view line) const { write(LogLevel::info, line); }
  void debug(std::string_view line) const { write(LogLevel::debug, line); }
  [[nodiscard]] bool shows(LogLevel level) const { return level <= level_; }

 private:
  void write(LogLevel level, std::string_view line) const;

  LogLevel level_;
};

}  // namespace cachebisect::cli
