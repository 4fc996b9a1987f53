#include "cachebisect/base/names.hpp"

#include <algorithm>
#include <vector>

namespace cachebisect {
namespace {

constexpr std::size_t kClip = 80;
constexpr std::size_t kMaxNameLength = 64;  // the cost is quadratic: longer names get no guess
constexpr std::size_t kListed = 24;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (byte < 0x20 || byte >= 0x7f) {
    out += "\\x";
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  } else {
    out += c;
  }
}

// The lesser of the distances to a known name with and without its category.
std::size_t distance_to(std::string_view name, std::string_view known) {
  const std::size_t whole = edit_distance(name, known);
  const std::size_t dot = known.find('.');
  if (dot == std::string_view::npos || name.find('.') != std::string_view::npos) return whole;
  return std::min(whole, edit_distance(name, known.substr(dot + 1)));
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kClip)) append_escaped(out, c);
  if (text.size() > kClip) out += "...";
  return out + '"';
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> before(columns);
  std::vector<std::size_t> previous(columns);
  std::vector<std::size_t> row(columns);
  for (std::size_t j = 0; j < columns; ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous.back();
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  if (name.empty() || name.size() > kMaxNameLength) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() * 2 / 5) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = distance_to(name, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return "";
  if (const auto nearest = nearest_name(name, known)) return "did you mean \"" + *nearest + "\"?";
  std::string out = "known: ";
  for (std::size_t i = 0; i < std::min(known.size(), kListed); ++i) {
    if (i > 0) out += ", ";
    out += known[i];
  }
  return known.size() > kListed ? out + ", ..." : out;
}

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace cachebisect
