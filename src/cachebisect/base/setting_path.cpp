#include "cachebisect/base/setting_path.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string escaped(std::string_view part) {
  std::string out;
  for (const char c : part) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out += token[i] == '0' ? '~' : '/';
  }
  return out;
}

}  // namespace

std::optional<SettingPath> SettingPath::from_dotted(std::string_view text) {
  SettingPath path;
  for (const std::string_view part : split(text, '.')) {
    if (part.empty()) return std::nullopt;
    path.parts_.emplace_back(part);
  }
  return path;
}

std::optional<SettingPath> SettingPath::from_pointer(std::string_view text) {
  SettingPath path;
  if (text.empty()) return path;
  if (text.front() != '/') return std::nullopt;
  for (const std::string_view token : split(text.substr(1), '/')) {
    auto part = unescaped(token);
    if (!part) return std::nullopt;
    path.parts_.push_back(*std::move(part));
  }
  return path;
}

SettingPath SettingPath::at(std::string_view key) const {
  SettingPath below = *this;
  below.parts_.emplace_back(key);
  return below;
}

SettingPath SettingPath::at(std::size_t index) const { return at(std::to_string(index)); }

std::string SettingPath::dotted() const {
  std::string out;
  for (std::size_t i = 0; i < parts_.size(); ++i) out += (i == 0 ? "" : ".") + parts_[i];
  return out;
}

std::string SettingPath::pointer() const {
  std::string out;
  for (const std::string& part : parts_) out += '/' + escaped(part);
  return out;
}

}  // namespace cachebisect
