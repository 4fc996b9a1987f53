// Builds tar archives byte by byte, right ones and wrong ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace cachebisect::test {

inline constexpr std::size_t kBlock = 512;

/// Octal digits and a NUL.
inline std::string octal(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; value /= 8) text[i] = static_cast<char>('0' + value % 8);
  return text + '\0';
}

/// GNU's form of large numbers, 12 bytes.
inline std::string base256(std::uint64_t value) {
  std::string text(12, '\0');
  for (std::size_t i = text.size(); i-- > 4; value /= 256) text[i] = static_cast<char>(value % 256);
  text[0] = '\x80';
  return text;
}

/// One header block.
struct TarBlockText {
  std::string name;
  std::string size = octal(0, 11);  ///< as the header has it
  char type = '0';
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);
  std::string prefix{};
  int add_to_checksum = 0;
  bool signed_checksum = false;

  [[nodiscard]] std::string text() const {
    std::string block(kBlock, '\0');
    const auto put = [&block](std::size_t offset, std::string_view field) {
      block.replace(offset, field.size(), field);
    };
    put(0, name);
    put(100, octal(0644, 7));
    put(108, octal(1000, 7));
    put(116, octal(1000, 7));
    put(124, size);
    put(136, octal(1'700'000'000, 11));
    put(148, "        ");
    block[156] = type;
    put(257, magic);
    put(345, prefix);
    int sum = add_to_checksum;
    for (const char c : block)
      sum += signed_checksum ? static_cast<signed char>(c) : static_cast<unsigned char>(c);
    put(148, octal(static_cast<std::uint64_t>(sum), 6) + ' ');
    return block;
  }
};

/// What follows a header, up to the next block.
inline std::string padded(std::string data) {
  data.resize((data.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return data;
}

inline std::string tar_file(const std::string& name, const std::string& data, char type = '0') {
  return TarBlockText{.name = name, .size = octal(data.size(), 11), .type = type}.text() +
         padded(data);
}

/// "LENGTH KEY=VALUE\n", where LENGTH counts all of it.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

inline std::string tar_end() { return std::string(2 * kBlock, '\0'); }

/// An image and a label, as WebDataset stores them.
inline std::string tar_sample(const std::string& key, const std::string& image,
                              const std::string& label) {
  return tar_file(key + ".jpg", image) + tar_file(key + ".cls", label);
}

}  // namespace cachebisect::test
