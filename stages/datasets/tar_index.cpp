#include "stages/datasets/tar_index.hpp"

#include <optional>
#include <utility>

#include "stages/datasets/tar_reader.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostLabelBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMembersAtOnce = 4096;

struct MemberName {
  std::string_view key;
  std::string_view extension;
};

bool is_meta(std::string_view name) noexcept {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

/// "a/000.Seg.png" is "a/000" and "Seg.png". Empty for what is part of no sample.
std::optional<MemberName> split_member(std::string_view name) noexcept {
  const std::size_t last_part = name.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = name.find('.', last_part);
  if (dot == std::string_view::npos || dot == last_part || is_meta(name)) return std::nullopt;
  return MemberName{name.substr(0, dot), name.substr(dot + 1)};
}

/// Puts members together.
class TarIndexer {
 public:
  TarIndexer(const ByteSource& file, const SampleMembers& members)
      : file_(&file), members_(&members) {}

  void add(const TarMember& member) {
    const auto name = split_member(member.name);
    if (!name) return;
    if (name->key != key_) {
      end_sample();
      key_ = name->key;
    }
    const std::string extension = in_lower_case(name->extension);
    note(extension);
    const auto rank = std::ranges::find(members_->image, extension) - members_->image.begin();
    if (std::cmp_less(rank, members_->image.size())) take_image(member, rank);
    if (extension == members_->label) take_label(member);
  }

  TarIndex finish() {
    end_sample();
    if (index_.samples.empty()) fail("has no samples; remove it, or name another path");
    check_keys();
    index_.samples.shrink_to_fit();
    index_.names.shrink_to_fit();
    return std::move(index_);
  }

 private:
  void take_image(const TarMember& member, std::ptrdiff_t rank) {
    check_size(member, kMostImageBytes);
    if (rank == image_rank_) refuse_second(member);
    if (image_rank_ && rank > *image_rank_) return;
    image_rank_ = rank;
    image_name_ = member.name;
    sample_.image_offset = member.offset;
    sample_.image_bytes = static_cast<std::uint32_t>(member.bytes);
  }

  void take_label(const TarMember& member) {
    check_size(member, kMostLabelBytes);
    if (has_label_) refuse_second(member);
    has_label_ = true;
    sample_.label_offset = member.offset;
    sample_.label_bytes = static_cast<std::uint32_t>(member.bytes);
  }

  void end_sample() {
    if (extensions_.empty()) return;
    if (!image_rank_) refuse_sample("no image", R"(name the image's in "image")");
    if (!has_label_ && !members_->label.empty()) {
      refuse_sample("no ." + members_->label,
                    R"(name the label's in "label", or give "label": "" if there is none)");
    }
    if (!has_label_) sample_.label_offset = sample_.image_end();
    index_.names += image_name_;
    sample_.name_end = index_.names.size();
    index_.samples.push_back(sample_);
    sample_ = {};
    image_rank_.reset();
    has_label_ = false;
    extensions_.clear();
  }

  /// For messages.
  void note(const std::string& extension) {
    constexpr std::size_t kShown = 100;
    if (extensions_.size() < kShown) extensions_ += (extensions_.empty() ? "." : ", .") + extension;
  }

  /// Members of a sample that do not follow each other look like two samples.
  void check_keys() const {
    std::vector<std::string_view> keys;
    keys.reserve(index_.samples.size());
    for (std::size_t i = 0; i < index_.samples.size(); ++i) {
      keys.push_back(split_member(index_.name(i))->key);
    }
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice == keys.end()) return;
    fail(
        "has the sample " + quote(*twice) +
        " twice; the members of a sample must follow each other, as `tar --sort=name` stores them");
  }

  void check_size(const TarMember& member, std::uint64_t most) const {
    if (member.bytes <= most) return;
    fail(quote(member.name) + " has " + std::to_string(member.bytes) +
         " bytes, more than it may have (" + std::to_string(most) + ")");
  }

  [[noreturn]] void refuse_second(const TarMember& member) const {
    fail("has " + quote(member.name) + " a second time, at byte " + std::to_string(member.offset));
  }

  [[noreturn]] void refuse_sample(const std::string& lacks, const std::string& remedy) const {
    fail("the sample " + quote(key_) + " has " + lacks + ", its extensions are " + extensions_ +
         "; " + remedy);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::data, file_->path() + ": " + what);
  }

  const ByteSource* file_;
  const SampleMembers* members_;
  TarIndex index_;
  std::string key_;  ///< of the present sample, as all below
  std::string extensions_;
  std::string image_name_;
  TarSample sample_;
  std::optional<std::ptrdiff_t> image_rank_;
  bool has_label_ = false;
};

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string_view TarIndex::name(std::size_t sample) const {
  const std::uint64_t begin = sample == 0 ? 0 : samples[sample - 1].name_end;
  return std::string_view(names).substr(begin, samples[sample].name_end - begin);
}

TarIndex index_tar(const ByteSource& file, const SampleMembers& members,
                   const std::function<void(std::uint64_t)>& on_members) {
  TarReader reader(file);
  TarIndexer indexer(file, members);
  std::uint64_t count = 0;
  while (const std::optional<TarMember> member = reader.next()) {
    indexer.add(*member);
    if (++count % kMembersAtOnce == 0) on_members(kMembersAtOnce);
  }
  on_members(count % kMembersAtOnce);
  return indexer.finish();
}

}  // namespace cachebisect::stages
