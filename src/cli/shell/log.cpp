#include "shell/log.hpp"

#include <iostream>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::cli {

LogLevel parse_log_level(const std::string& text) {
  if (text == "error") return LogLevel::error;
  if (text == "warn") return LogLevel::warn;
  if (text == "info") return LogLevel::info;
  if (text == "debug") return LogLevel::debug;
  throw Error(ErrorKind::usage, "--log-level " + text + ": error, warn, info or debug");
}

void print_error(std::string_view message) {
  std::cerr << "cachebisect: " + printable(message) + '\n';
}

void Log::write(LogLevel level, std::string_view line) const {
  if (shows(level)) print_error(line);
}

}  // namespace cachebisect::cli
