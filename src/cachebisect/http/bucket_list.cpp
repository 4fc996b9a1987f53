#include "cachebisect/http/bucket_list.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

/// Asks for pages, and holds each against what was asked for.
class BucketPages {
 public:
  BucketPages(PartReader& reader, const S3Settings& settings, const BucketListOptions& options)
      : reader_(reader),
        settings_(settings),
        options_(options),
        access_(s3_list_access(settings)),
        prefix_(s3_prefix(options.path)),
        bytes_(std::make_unique_for_overwrite<PageBytes>()) {}

  [[nodiscard]] BucketPage next() {
    const ObjectAddress address = s3_page_address(
        {.path = options_.path, .has_folders = options_.has_folders, .token = token_}, settings_,
        access_);
    const std::size_t bytes = reader_.read_whole(address, *bytes_);
    BucketPage page = parsed({reinterpret_cast<const char*>(bytes_->data()), bytes});
    check(page);
    token_ = page.next;
    return page;
  }

 private:
  using PageBytes = std::array<std::byte, kMostPageBytes>;

  [[nodiscard]] BucketPage parsed(std::string_view text) const {
    try {
      return read_bucket_page(text);
    } catch (const Error& error) {
      fail(std::string("the server's list cannot be read: ") + error.what());
    }
  }

  void check(const BucketPage& page) {
    std::string greatest;
    const auto take = [&](const std::string& key) {
      if (!key.starts_with(prefix_))
        fail("the server lists " + quote(key) + ", which is not in it");
      greatest = std::max(greatest, key);
    };
    for (const ListedObject& object : page.objects) take(object.key);
    for (const std::string& folder : page.folders) {
      take(folder);
      if (!folder.ends_with('/')) fail("the server lists the folder " + quote(folder));
    }
    keys_ += page.objects.size() + page.folders.size();
    if (keys_ > options_.most_keys) {
      fail("it has more than " + format_count(options_.most_keys) +
           " objects; name a prefix of fewer");
    }
    check_progress(greatest);
  }

  /// Keys are listed in the order of their bytes: what goes on must go further.
  void check_progress(const std::string& greatest) {
    if (greatest.empty()) {
      if (++empty_pages_ > options_.most_empty_pages) {
        fail("the server's list does not end: " + std::to_string(empty_pages_) +
             " of its pages have no key");
      }
      return;
    }
    if (greatest <= greatest_) {
      fail("the server's list does not end: a page goes on before " + quote(greatest_) +
           ", which was listed");
    }
    greatest_ = greatest;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::data, printable(options_.path) + ": " + what);
  }

  PartReader& reader_;
  const S3Settings& settings_;
  const BucketListOptions& options_;
  std::shared_ptr<const ObjectAccess> access_;
  std::string prefix_;
  std::unique_ptr<PageBytes> bytes_;
  std::string token_;
  std::string greatest_;  ///< key of the pages so far
  std::uint64_t keys_ = 0;
  std::size_t empty_pages_ = 0;
};

}  // namespace

void list_bucket(PartReader& reader, const S3Settings& settings, const BucketListOptions& options,
                 const OnBucketPage& on_page) {
  BucketPages pages(reader, settings, options);
  bool is_last = false;
  while (!is_last) {
    BucketPage page = pages.next();
    is_last = page.next.empty();
    on_page(page);
  }
}

}  // namespace cachebisect
