#include "cachebisect/launch/descendants.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace cachebisect {
namespace {

namespace fs = std::filesystem;

/// 0: no number.
pid_t number(const std::string& text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// The parent of a living process; 0 if it is dead or unknown. Format: proc(5), /proc/PID/stat.
pid_t parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // The name is in brackets, and may have some of its own.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  const char state = text[name_end + 2];
  const std::size_t begin = name_end + 4;
  if (state == 'Z' || state == 'X') return 0;
  return number(text.substr(begin, text.find(' ', begin) - begin));
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t process = number(entry.path().filename().string());
    if (process <= 0) continue;
    if (const pid_t parent = parent_of(entry.path()); parent > 0) found.emplace(parent, process);
  }
  return found;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t process) noexcept {
  try {
    const std::multimap<pid_t, pid_t> children = children_by_parent();
    std::vector<pid_t> found{process};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto [first, last] = children.equal_range(found[i]);
      for (auto child = first; child != last; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
  } catch (...) {  // No /proc, or no memory.
    return {};
  }
}

}  // namespace cachebisect
