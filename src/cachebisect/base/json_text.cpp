#include "cachebisect/base/json_text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/utf8.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

[[noreturn]] void fail_at(std::string_view text, std::size_t offset, const std::string& origin,
                          const std::string& what) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto line = 1 + std::ranges::count(before, '\n');
  const auto column = 1 + std::ranges::count_if(before.substr(line_start), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
                      });
  throw Error(ErrorKind::usage,
              origin + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what);
}

// Counts the bytes that the parser has read, which its events do not report.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) noexcept : at_(at), count_(count) {}
  reference operator*() const noexcept { return *at_; }
  CountingIterator& operator++() noexcept {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) noexcept {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const noexcept { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

// The parser's message without its class names, position and raw bytes.
std::string reason_of(const std::string& what) {
  const std::size_t start = what.find("syntax error");
  const std::string reason = start == std::string::npos
                                 ? what.substr(std::min(what.find("] ") + 2, what.size()))
                                 : what.substr(start);
  const std::string printable = quote(reason.substr(0, reason.find("; last read")));
  return printable.substr(1, printable.size() - 2);
}

// Builds the tree from the parser's events. The parser keeps its stack on the heap, so that nesting
// does not use the call stack.
class TreeBuilder final : public nlohmann::json_sax<json> {
 public:
  TreeBuilder(std::string_view text, const std::string& origin, const JsonLimits& limits,
              const std::size_t& read)
      : text_(text), origin_(origin), limits_(limits), read_(read) {}

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (open_.back()->contains(name)) {
      const std::size_t token = text_.rfind('"', read_ < 2 ? 0 : read_ - 2);
      fail_at(text_, token == std::string_view::npos ? read_ : token, origin_,
              "key " + quote(name) + " appears twice in one object; remove one");
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const std::size_t offset = position == 0 ? 0 : position - 1;
    if (error.id == 406) {
      const std::size_t start = position >= token.size() ? position - token.size() : 0;
      fail_at(text_, start, origin_, "number " + quote(token) + " is too large for a double");
    }
    fail_at(text_, offset, origin_, "not JSON: " + reason_of(error.what()));
  }

 private:
  json* place(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json container) {
    if (open_.size() >= limits_.max_depth) {
      fail_at(text_, read_ == 0 ? 0 : read_ - 1, origin_,
              "nested deeper than " + std::to_string(limits_.max_depth) + " levels; " +
                  std::string(limits_.document) + " needs fewer");
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& origin_;
  const JsonLimits& limits_;
  const std::size_t& read_;
  json root_;
  std::vector<json*> open_;
  std::string key_;
};

}  // namespace

json read_json(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw Error(ErrorKind::usage, origin + ": larger than " +
                                      std::to_string(limits.max_bytes >> 20U) +
                                      " MiB; this is not " + std::string(limits.document));
  }
  if (const auto bad = first_invalid_utf8(text))
    fail_at(text, *bad, origin, "not UTF-8; save it as UTF-8");
  // The parser would take it for the end and ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail_at(text, nul, origin, "not JSON: a NUL character");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(ErrorKind::usage, origin + ": empty; it must hold a JSON object");
  }
  std::size_t read = 0;
  TreeBuilder builder(text, origin, limits, read);
  const CountingIterator first(text.data(), &read);
  const CountingIterator last(text.data() + text.size(), &read);
  if (!json::sax_parse(first, last, &builder, json::input_format_t::json, true, limits.comments)) {
    throw Error(ErrorKind::usage, origin + ": not JSON");
  }
  return builder.take();
}

}  // namespace cachebisect
