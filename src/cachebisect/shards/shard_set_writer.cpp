#include "cachebisect/shards/shard_set_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/content_difference.hpp"

namespace cachebisect::shards {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherFolder = "; name another folder with --out, or remove this one";

[[noreturn]] void refuse(const std::string& folder, const std::string& what) {
  throw Error(ErrorKind::usage, folder + ": " + what + kOtherFolder);
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::output, path + ": " + what);
}

/// Makes the folder and those above it.
void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return;
  fail(folder, fs::exists(folder, ignored) ? "is no folder"
                                           : "cannot be made: " + errno_text(error.value()));
}

void check_same(const std::string& folder, const ShardSet& held, const ShardSet& wanted) {
  if (held.digest != wanted.digest)
    refuse(folder, content_difference(held.content, wanted.content));
  if (held.after != wanted.after) {
    refuse(folder,
           "holds samples after '" + held.after + "', and these are after '" + wanted.after + "'");
  }
  if (held.codec != wanted.codec) {
    refuse(folder, "holds samples stored with " + held.codec + ", not " + wanted.codec);
  }
  if (held.spec != wanted.spec || held.source_samples != wanted.source_samples) {
    refuse(folder, "holds samples with other fields, or another number");
  }
}

bool has_whole_records(const ShardFile& shard) {
  std::vector<std::byte> stored;
  try {
    for (std::uint64_t i = 0; i < shard.records(); ++i) {
      stored.resize(shard.entry(i).stored_bytes);
      shard.read(i, stored);
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// The shard, if it is one.
std::optional<ShardFile> opened(const std::string& file) {
  try {
    return ShardFile(file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void remove_left_over(const std::string& file) {
  if (std::remove(file.c_str()) == 0 || errno == ENOENT) return;
  fail(file, "cannot be removed: " + errno_text(errno));
}

/// Names in the folder. Throws Error(output) if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) fail(folder, "cannot be read: " + errno_text(error.value()));
  return names;
}

}  // namespace

ShardSetWriter::ShardSetWriter(std::string folder, ShardSet facts)
    : folder_(std::move(folder)), set_(std::move(facts)) {
  set_.digest = checksum_text(text_digest(set_.content));
  identity_ = text_digest(set_.digest + '\n' + set_.after + '\n' + set_.codec);
  make_folder(folder_);
  lock();
  const auto index = find_shard_set(folder_, kIndexName);
  if (const auto held = index ? index : find_shard_set(folder_, kUnfinishedName)) {
    check_same(folder_, *held, set_);
  } else {
    check_holds_nothing_else();
  }
  remove_left_overs();
  skip_whole_shards();
  finished_ =
      index && next_sample_ == set_.source_samples && index->shards.size() == set_.shards.size();
  if (!finished_) write_facts(kUnfinishedName);
  remove_left_over(path(finished_ ? kUnfinishedName : kIndexName));
}

ShardSetWriter::~ShardSetWriter() = default;

void ShardSetWriter::lock() {
  lock_ = FileDescriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_.is_open()) fail(folder_, "cannot be opened: " + errno_text(errno));
  // On a file system without locks, names of their own keep the files of two processes apart.
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    refuse(folder_, "another process writes it now");
  }
}

/// The shards of a folder whose facts are missing or damaged say whose they are. Throws
/// Error(usage).
void ShardSetWriter::check_holds_nothing_else() const {
  if (begins_with_own_shard()) return;
  for (const std::string& name : names_in(folder_)) {
    if (!PartialFile::has_name(name)) refuse(folder_, "holds other files, such as " + name);
  }
}

bool ShardSetWriter::begins_with_own_shard() const {
  const auto shard = opened(path(shard_name(0)));
  return shard && shard->origin().set == identity_;
}

void ShardSetWriter::remove_left_overs() const {
  for (const std::string& name : names_in(folder_)) {
    if (PartialFile::has_name(name)) remove_left_over(path(name));
  }
}

void ShardSetWriter::skip_whole_shards() {
  while (next_sample_ < set_.source_samples && take_whole_shard()) {
  }
}

bool ShardSetWriter::take_whole_shard() {
  const std::string name = shard_name(set_.shards.size());
  if (!exists(path(name))) return false;
  const auto shard = opened(path(name));
  if (shard && shard->origin().set != identity_) refuse(folder_, name + " is of another set");
  const auto fits = [this](const ShardFile& file) {
    const auto& [set, first, end] = file.origin();
    return first == next_sample_ && end > first && end <= set_.source_samples &&
           file.records() <= end - first;
  };
  if (!shard || !fits(*shard) || !has_whole_records(*shard)) {
    remove_left_over(path(name));
    return false;
  }
  set_.shards.push_back({.file = name,
                         .samples = shard->records(),
                         .bytes = shard->file().size(),
                         .index_checksum = checksum_text(shard->index_checksum())});
  next_sample_ = shard->origin().end_sample;
  return true;
}

ShardWriter& ShardSetWriter::open_shard() {
  if (!shard_) shard_.emplace(path(shard_name(set_.shards.size())));
  return *shard_;
}

void ShardSetWriter::append(std::span<const std::byte> stored, std::size_t record_bytes) {
  open_shard().append(stored, record_bytes);
}

void ShardSetWriter::end_shard(std::uint64_t end_sample) {
  ShardWriter& shard = open_shard();
  const std::uint64_t checksum =
      shard.close({.set = identity_, .first_sample = next_sample_, .end_sample = end_sample});
  set_.shards.push_back({.file = shard_name(set_.shards.size()),
                         .samples = shard.records(),
                         .bytes = shard.bytes(),
                         .index_checksum = checksum_text(checksum)});
  shard_.reset();
  next_sample_ = end_sample;
  skip_whole_shards();
}

void ShardSetWriter::finish() {
  write_facts(kIndexName);
  remove_left_over(path(kUnfinishedName));
  static_cast<void>(::fsync(lock_.get()));
  finished_ = true;
}

void ShardSetWriter::write_facts(const char* name) const {
  const std::string text = to_json(set_);
  replace_file(path(name), std::as_bytes(std::span(text)));
}

}  // namespace cachebisect::shards
