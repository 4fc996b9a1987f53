#include "cachebisect/http/xml_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostXmlDepth = 16;
constexpr std::size_t kMostEntityBytes = 12;
constexpr std::string_view kXmlSpaces = " \t\r\n";

bool is_xml_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

std::string in_utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](unsigned shift) { return byte(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80U) return {byte(code)};
  if (code < 0x800U) return {byte(0xc0U | code >> 6U), tail(0)};
  if (code < 0x10000U) return {byte(0xe0U | code >> 12U), tail(6), tail(0)};
  return {byte(0xf0U | code >> 18U), tail(12), tail(6), tail(0)};
}

/// The character of "#38" or "#x26"; empty: there is none.
std::optional<std::string> numbered_character(std::string_view reference) {
  const bool is_hexadecimal = reference.starts_with("#x");
  const std::string_view digits = reference.substr(is_hexadecimal ? 2 : 1);
  const std::uint32_t base = is_hexadecimal ? 16 : 10;
  constexpr std::uint32_t kMostCode = 0x10ffff;
  std::uint32_t code = 0;
  for (const char c : digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t digit = kDigits.find(lower);
    if (digit >= base) return std::nullopt;
    code = code * base + static_cast<std::uint32_t>(digit);
    if (code > kMostCode) return std::nullopt;
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code == 0 || is_surrogate) return std::nullopt;
  return in_utf8(code);
}

}  // namespace

XmlReader::XmlReader(std::string_view document) : document_(document) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

std::optional<std::string_view> XmlReader::enter() {
  if (std::exchange(is_empty_, false)) {
    open_.pop_back();
    return std::nullopt;
  }
  do {
    skip_spaces();
  } while (skip_aside());
  if (at_ == document_.size()) {
    if (open_.empty()) return std::nullopt;
    fail("it ends within <" + std::string(open_.back()) + ">");
  }
  if (document_[at_] != '<') fail("text where elements belong");
  if (!starts_with("</")) return begin_tag();
  end_tag();
  return std::nullopt;
}

std::string XmlReader::take_text() {
  std::string text;
  if (std::exchange(is_empty_, false)) {
    open_.pop_back();
    return text;
  }
  for (;;) {
    const std::size_t end = std::min(document_.find_first_of("<&", at_), document_.size());
    text += document_.substr(at_, end - at_);
    at_ = end;
    if (at_ == document_.size()) fail("it ends within a text");
    if (document_[at_] == '&') {
      text += entity();
    } else if (!skip_aside()) {
      break;
    }
  }
  if (!starts_with("</")) fail("an element where text belongs");
  end_tag();
  return text;
}

void XmlReader::skip() {
  const std::size_t level = open_.size();
  while (open_.size() >= level) {
    if (!is_empty_) at_ = std::min(document_.find('<', at_), document_.size());
    static_cast<void>(enter());
  }
}

void XmlReader::finish() {
  if (enter()) fail("a second document");
}

void XmlReader::skip_spaces() {
  at_ = std::min(document_.find_first_not_of(kXmlSpaces, at_), document_.size());
}

void XmlReader::skip_behind(std::string_view end) {
  const std::size_t found = document_.find(end, at_);
  if (found == std::string_view::npos) fail("it ends before a " + quote(end));
  at_ = found + end.size();
}

bool XmlReader::skip_aside() {
  const bool is_comment = starts_with("<!--");
  if (!is_comment && !starts_with("<?")) return false;
  at_ += is_comment ? 4 : 2;
  skip_behind(is_comment ? "-->" : "?>");
  return true;
}

std::string_view XmlReader::begin_tag() {
  if (starts_with("<!")) fail("a document type, or CDATA");
  if (open_.empty() && std::exchange(has_root_, true)) fail("a second document");
  if (open_.size() == kMostXmlDepth) fail("too many elements in each other");
  ++at_;
  open_.push_back(name());
  for (;;) {
    at_ = std::min(document_.find_first_of("\"'<>", at_), document_.size());
    if (at_ == document_.size() || document_[at_] == '<') fail("a tag without its end");
    if (document_[at_] == '>') break;
    const char mark = document_[at_++];
    skip_behind({&mark, 1});
  }
  is_empty_ = document_[at_ - 1] == '/';
  ++at_;
  return open_.back();
}

void XmlReader::end_tag() {
  at_ += 2;
  const std::string_view closed = name();
  if (open_.empty() || open_.back() != closed)
    fail("</" + std::string(closed) + "> closes nothing");
  skip_spaces();
  if (!starts_with(">")) fail("a tag without its end");
  ++at_;
  open_.pop_back();
}

std::string_view XmlReader::name() {
  constexpr std::size_t kMostNameBytes = 64;
  const std::size_t end = std::min(document_.find_first_of(" \t\r\n/>", at_), document_.size());
  const std::string_view found = document_.substr(at_, end - at_);
  if (found.size() > kMostNameBytes || !is_xml_name(found)) fail("a tag without a name");
  at_ = end;
  return found;
}

std::string XmlReader::entity() {
  using Entity = std::pair<std::string_view, const char*>;
  constexpr std::array<Entity, 5> kEntities{
      {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}}};
  const std::string_view near = document_.substr(at_ + 1, kMostEntityBytes);
  const std::string_view found = near.substr(0, near.find(';'));
  if (found.size() == near.size()) fail("an & that begins no entity");
  const auto* const known = std::ranges::find(kEntities, found, &Entity::first);
  const std::optional<std::string> text = known != kEntities.end() ? std::string(known->second)
                                          : found.starts_with('#') ? numbered_character(found)
                                                                   : std::nullopt;
  if (!text) fail("the unknown entity " + quote(found));
  at_ += found.size() + 2;
  return *text;
}

bool XmlReader::starts_with(std::string_view text) const {
  return document_.substr(at_).starts_with(text);
}

void XmlReader::fail(const std::string& what) const {
  throw Error(ErrorKind::data, "the XML is wrong at byte " + std::to_string(at_) + ": " + what);
}

}  // namespace cachebisect
