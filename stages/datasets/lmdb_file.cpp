#include "stages/datasets/lmdb_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

// As in mdb.c of LMDB 0.9; numbers have the byte order of the machine that wrote them.
constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPageHeader = 16;
constexpr std::size_t kNodeHeader = 8;
constexpr std::size_t kDatabase = 48;
constexpr std::uint16_t kBranchPage = 1;
constexpr std::uint16_t kLeafPage = 2;
constexpr std::uint16_t kOverflowPage = 4;
constexpr std::uint16_t kBigData = 1;
constexpr std::uint16_t kSubData = 2;
constexpr std::uint16_t kDupData = 4;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::size_t kMostDepth = 32;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string data_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path + "/data.mdb" : path;
}

}  // namespace

/// Goes over the pages of the tree, each once, and notes what its leaves hold.
class LmdbFile::Walk {
 public:
  Walk(LmdbFile& out, const OpenContext& context) : out_(out), context_(context) {
    meta_ = meta_at(out.file_, 0);
    const bool right_size = meta_.page_bytes >= 512 && meta_.page_bytes <= 65'536 &&
                            std::has_single_bit(meta_.page_bytes);
    if (!meta_.valid || !right_size) out_.refuse("is no LMDB file that this machine could write");
    const std::uint32_t page_bytes = meta_.page_bytes;
    const Meta second = meta_at(out.file_, page_bytes);
    if (second.valid && second.transaction > meta_.transaction) meta_ = second;
    meta_.page_bytes = page_bytes;
    pages_ = out.file_.size() / page_bytes;
    if (meta_.last_page >= pages_) {
      out_.refuse("has " + format_count(pages_) + " pages, and its table says that the last is " +
                  format_count(meta_.last_page) + "; the file was cut short");
    }
  }

  void run() {
    if (meta_.root != kNoPage) visit(meta_.root, 0);
  }

 private:
  /// What a meta page says that is needed here.
  struct Meta {
    bool valid = false;
    std::uint32_t page_bytes = 0;
    std::uint64_t root = kNoPage;
    std::uint64_t last_page = 0;
    std::uint64_t transaction = 0;
  };
  /// Not valid if there is none at this place.
  static Meta meta_at(const InputFile& file, std::uint64_t offset);

  /// A page by its parts; what it claims is checked against its size.
  class Page {
   public:
    Page(const Walk& walk, std::uint64_t number) : walk_(walk), number_(number) {
      bytes_.resize(walk.meta_.page_bytes);
      walk.out_.file_.read(number * bytes_.size(), bytes_);
      const auto lower = number_at<std::uint16_t>(bytes_, 12);
      if (lower < kPageHeader || lower > bytes_.size()) refuse("has a damaged header");
      count_ = (lower - kPageHeader) / 2;
    }

    [[nodiscard]] std::uint16_t flags() const { return number_at<std::uint16_t>(bytes_, 10); }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// From the header of entry `i` to the end of the page.
    [[nodiscard]] std::span<const std::byte> entry(std::size_t i) const {
      const auto offset = number_at<std::uint16_t>(bytes_, kPageHeader + 2 * i);
      if (offset < kPageHeader + 2 * count_ || offset + kNodeHeader > bytes_.size())
        refuse("has an entry beyond its end");
      return std::span(bytes_).subspan(offset);
    }
    [[nodiscard]] std::uint64_t offset_of(std::span<const std::byte> part) const {
      return number_ * bytes_.size() + static_cast<std::uint64_t>(part.data() - bytes_.data());
    }
    [[noreturn]] void refuse(const std::string& what) const {
      walk_.out_.refuse("page " + std::to_string(number_) + " " + what + "; the file is damaged");
    }

   private:
    const Walk& walk_;
    std::uint64_t number_;
    std::vector<std::byte> bytes_;
    std::size_t count_ = 0;
  };

  void visit(std::uint64_t number, std::size_t depth) {
    if (number >= pages_ || depth > kMostDepth || ++visited_ > pages_)
      out_.refuse("its tree leads to page " + std::to_string(number) +
                  ", beyond its end or in a "
                  "circle; the file is damaged");
    if (visited_ % 256 == 0) {
      context_.check_stop();
      context_.report("listing " + out_.path() + ": " + format_count(out_.size()) + " entries");
    }
    const Page page(*this, number);
    if (page.flags() == kBranchPage) return visit_children(page, depth);
    if (page.flags() != kLeafPage) page.refuse("is no part of a tree");
    for (std::size_t i = 0; i < page.count(); ++i) take(page, page.entry(i));
  }

  void visit_children(const Page& page, std::size_t depth) {
    for (std::size_t i = 0; i < page.count(); ++i) {
      const std::span<const std::byte> node = page.entry(i);
      const std::uint64_t low = number_at<std::uint32_t>(node, 0);
      const std::uint64_t high = number_at<std::uint16_t>(node, 4);
      visit(high << 32U | low, depth + 1);
    }
  }

  void take(const Page& page, std::span<const std::byte> node) {
    const auto bytes = number_at<std::uint32_t>(node, 0);
    const auto flags = number_at<std::uint16_t>(node, 4);
    const auto key_bytes = number_at<std::uint16_t>(node, 6);
    node = node.subspan(kNodeHeader);
    const bool big = (flags & kBigData) != 0;
    if (node.size() < key_bytes || node.size() - key_bytes < (big ? 8 : bytes))
      page.refuse("has an entry beyond its end");
    const std::string_view key(reinterpret_cast<const char*>(node.data()), key_bytes);
    if ((flags & kDupData) != 0)
      out_.refuse("has several values under the key " + quote(key) + "; one can be read");
    if ((flags & kSubData) != 0)
      out_.refuse("has named databases, such as " + quote(key) + "; the unnamed one can be read");
    if (key.starts_with("__")) return;
    Place place{page.offset_of(node.subspan(key_bytes)), bytes, big};
    if (big) place.offset = first_of_big(page, node.subspan(key_bytes), bytes);
    out_.places_.push_back(place);
    out_.keys_ += key;
    out_.key_ends_.push_back(out_.keys_.size());
  }

  std::uint64_t first_of_big(const Page& page, std::span<const std::byte> place,
                             std::uint64_t bytes) const {
    const auto first = number_at<std::uint64_t>(place, 0);
    const bool is_within =
        first < pages_ && bytes + kPageHeader <= (pages_ - first) * meta_.page_bytes;
    if (!is_within) {
      page.refuse("claims a value of " + std::to_string(bytes) + " bytes on page " +
                  std::to_string(first) + ", beyond the end of the file");
    }
    return first * meta_.page_bytes + kPageHeader;
  }

  LmdbFile& out_;
  const OpenContext& context_;
  Meta meta_;
  std::uint64_t pages_ = 0;
  std::uint64_t visited_ = 0;
};

LmdbFile::Walk::Meta LmdbFile::Walk::meta_at(const InputFile& file, std::uint64_t offset) {
  constexpr std::size_t kFirstDatabase = kPageHeader + 24;
  std::array<std::byte, kFirstDatabase + 2 * kDatabase + 16> bytes{};
  if (offset > file.size() || file.size() - offset < bytes.size()) return {};
  file.read(offset, bytes);
  if (number_at<std::uint32_t>(bytes, kPageHeader) != kMagic) return {};
  if (const auto version = number_at<std::uint32_t>(bytes, kPageHeader + 4); version != kVersion) {
    throw Error(ErrorKind::data, file.path() + ": is of version " + std::to_string(version) +
                                     " of LMDB's format; version 1, of LMDB 0.9, can be read");
  }
  const std::size_t after = kFirstDatabase + 2 * kDatabase;
  return {.valid = true,
          .page_bytes = number_at<std::uint32_t>(bytes, kFirstDatabase),
          .root = number_at<std::uint64_t>(bytes, after - 8),
          .last_page = number_at<std::uint64_t>(bytes, after),
          .transaction = number_at<std::uint64_t>(bytes, after + 8)};
}

LmdbFile::LmdbFile(const std::string& path, const OpenContext& context) : file_(data_file(path)) {
  Walk(*this, context).run();
  if (places_.empty()) refuse("has no entries");
  places_.shrink_to_fit();
  key_ends_.shrink_to_fit();
  keys_.shrink_to_fit();
  file_.open_per_core();
}

std::string_view LmdbFile::key(std::uint64_t index) const {
  const std::uint64_t begin = index == 0 ? 0 : key_ends_.at(index - 1);
  return std::string_view(keys_).substr(begin, key_ends_.at(index) - begin);
}

void LmdbFile::read(std::uint64_t index, std::span<std::byte> out) const {
  const Place& place = places_.at(index);
  if (!place.has_page_header) return file_.read(place.offset, out);
  std::array<std::byte, kPageHeader> header{};
  file_.read(place.offset - kPageHeader, header, out);
  if (number_at<std::uint16_t>(header, 10) == kOverflowPage) return;
  refuse(
      "the value of the key " + quote(key(index)) + " at byte " + std::to_string(place.offset) +
      " is on no page for large values; the file is damaged, or was changed after it was opened");
}

void LmdbFile::refuse(const std::string& what) const {
  throw Error(ErrorKind::data, file_.path() + ": " + what);
}

}  // namespace cachebisect::stages
