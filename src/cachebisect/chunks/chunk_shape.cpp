#include "cachebisect/chunks/chunk_shape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

/// The average over all places takes time exponential in them.
constexpr std::size_t kMaxDimensions = 12;

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 16> kElementBytes{
    {{"bool", 1},
     {"int8", 1},
     {"uint8", 1},
     {"int16", 2},
     {"uint16", 2},
     {"float16", 2},
     {"bfloat16", 2},
     {"int32", 4},
     {"uint32", 4},
     {"float32", 4},
     {"int64", 8},
     {"uint64", 8},
     {"float64", 8},
     {"datetime64", 8},
     {"complex64", 8},
     {"complex128", 16}}};

[[noreturn]] void refuse(std::string_view what, std::string_view text, const std::string& why) {
  throw Error(ErrorKind::usage, std::string(what) + " " + quote(text) + ": " + why);
}

}  // namespace

ChunkShape parse_chunk_shape(std::string_view what, std::string_view text) {
  ChunkShape shape;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    const auto extent = parse_number<std::uint64_t>(rest.substr(0, end));
    if (!extent || *extent == 0) {
      refuse(what, text, "whole numbers from 1 with x between them, such as 64x64");
    }
    shape.push_back(*extent);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (shape.size() > kMaxDimensions) {
    refuse(what, text, "at most " + std::to_string(kMaxDimensions) + " dimensions");
  }
  return shape;
}

std::string shape_text(const ChunkShape& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

std::uint64_t bytes_of_element(std::string_view what, std::string_view type) {
  std::vector<std::string> known;
  for (const auto& [name, bytes] : kElementBytes) {
    if (name == type) return bytes;
    known.emplace_back(name);
  }
  refuse(what, type, suggestion(type, known));
}

}  // namespace cachebisect
