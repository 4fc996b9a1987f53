#include "fuzz/mutate.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

namespace cachebisect::fuzz {
namespace {

using nlohmann::json;

void change_bytes(std::string& bytes, std::size_t at, RandomStream& random) {
  const std::size_t length = std::min<std::size_t>(random.below(40) + 1, bytes.size() - at);
  switch (random.below(6)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.erase(at, length);
      break;
    case 2:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 3:
      bytes[at] = random.below(2) == 0 ? '\xff' : '\0';
      break;
    case 4:
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 1U << random.below(8));
      break;
    default:
      bytes[at] = static_cast<char>(random.below(256));
  }
}

void gather(json& value, std::vector<json*>& all) {
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (json& member : value) gather(member, all);
}

/// Values at which code that reads numbers, texts and lists goes wrong.
const std::vector<json>& odd_values() {
  static const std::vector<json> values{nullptr,
                                        true,
                                        0,
                                        -1,
                                        1,
                                        2,
                                        0.5,
                                        -0.5,
                                        1e-308,
                                        1e308,
                                        -1e308,
                                        1e18,
                                        1e19,
                                        2147483647LL,
                                        2147483648LL,
                                        -2147483649LL,
                                        9223372036854775807LL,
                                        18446744073709551615ULL,
                                        "",
                                        "x",
                                        "1",
                                        std::string(300, 'n'),
                                        "\x1b[31m<script>alert(1)</script>\n",
                                        json::array(),
                                        json::object(),
                                        json::array({1, 2}),
                                        json::array({1e308, 1e308}),
                                        json::array({2147483647, 2147483647, 2147483647})};
  return values;
}

void change_members(json& value, RandomStream& random) {
  if (value.empty()) return;
  const auto at = std::next(value.begin(), static_cast<std::ptrdiff_t>(random.below(value.size())));
  if (value.is_object() || random.below(2) == 0) {
    value.erase(at);
    return;
  }
  const json copy = *at;
  value.push_back(copy);
}

void change_value(json& document, RandomStream& random) {
  std::vector<json*> all;
  gather(document, all);
  json& value = *all[random.below(all.size())];
  switch (random.below(4)) {
    case 0: {
      const json other = *all[random.below(all.size())];
      value = other;
      break;
    }
    case 1:
      if (value.is_structured()) return change_members(value, random);
      [[fallthrough]];
    default:
      value = odd_values()[random.below(odd_values().size())];
  }
}

std::optional<std::string> mutated_document(std::string_view text, RandomStream& random) {
  json document = json::parse(text, nullptr, false, true);
  if (document.is_discarded()) return std::nullopt;
  for (std::uint64_t n = random.below(3) + 1; n > 0; --n) change_value(document, random);
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string mutated_bytes(std::string bytes, RandomStream& random) {
  constexpr std::size_t kHeader = 64;
  for (std::uint64_t n = random.below(4) + 1; n > 0 && !bytes.empty(); --n) {
    const bool early = random.below(2) == 0;
    change_bytes(bytes, random.below(early ? std::min(bytes.size(), kHeader) : bytes.size()),
                 random);
  }
  return bytes;
}

std::optional<std::string> mutated_json(std::string_view text, RandomStream& random) {
  if (auto whole = mutated_document(text, random)) return whole;
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  std::size_t begin = 0;
  for (std::uint64_t skip = random.below(lines + 1); skip > 0; --skip) {
    begin = text.find('\n', begin) + 1;
  }
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const auto line = mutated_document(text.substr(begin, end - begin), random);
  if (!line) return std::nullopt;
  return std::string(text.substr(0, begin)).append(*line).append(text.substr(end));
}

}  // namespace cachebisect::fuzz
