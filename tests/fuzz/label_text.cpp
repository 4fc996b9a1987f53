// Labels: the number under a key is that which a whole JSON parser finds.
#include "stages/datasets/label_text.hpp"

#include "fuzz/fuzz_target.hpp"
#include <nlohmann/json.hpp>

using namespace cachebisect;
using namespace cachebisect::fuzz;

extern "C" int CACHEBISECT_FUZZ_ENTRY(label_text)(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const auto number = stages::whole_number(text);
  if (number) {
    const std::string digits = std::to_string(*number);
    require(text.find(digits.substr(digits.starts_with('-') ? 1 : 0)) != std::string_view::npos,
            "a number is one that the text has");
  }
  const auto found = stages::json_number(text, "label");
  const auto whole = nlohmann::json::parse(text, nullptr, false);
  // The parser takes a NUL for the end of the text, which JSON does not.
  const bool comparable =
      text.find('\\') == std::string_view::npos && text.find('\0') == std::string_view::npos;
  if (!whole.is_object() || !comparable) return 0;
  const auto member = whole.find("label");
  const bool is_label =
      member != whole.end() && member->is_number_integer() &&
      (!member->is_number_unsigned() || std::in_range<std::int64_t>(member->get<std::uint64_t>()));
  require(found.has_value() == is_label, "a label is found where there is one");
  if (found) require(*found == member->get<std::int64_t>(), "a label is the number of the file");
  return 0;
}
