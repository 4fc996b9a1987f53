#include "stages/datasets/parquet_set.hpp"

#include <string_view>
#include <utility>

#include "stages/datasets/data_files.hpp"
#include "stages/datasets/whole_runs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/data/sample_place.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMostRowBytes = std::uint64_t{1} << 30U;

bool is_parquet_name(std::string_view name) { return name.ends_with(".parquet"); }

std::vector<std::string> parquet_paths(const std::string& path) {
  return data_file_paths(path, {.name = "Parquet",
                                .names = "*.parquet",
                                .is_one = is_parquet_name,
                                .pattern = "train-{00000..00099}-of-00100.parquet"});
}

ParquetRow row_of(const ParquetFile& file) {
  const ParquetFile::Facts& facts = file.facts();
  ParquetRow row{facts.dtype, facts.shape};
  if (facts.is_list) row.shape = {file.first_length()};
  if (row.value_bytes() > kMostRowBytes) {
    throw Error(ErrorKind::data, file.path() + ": a row is " + row.shape.to_string() + " " +
                                     std::string(to_string(row.dtype)) + ", more than 1 GiB");
  }
  return row;
}

void require_same(const ParquetFile& file, const ParquetFile& first) {
  const ParquetFile::Facts& facts = file.facts();
  const ParquetFile::Facts& wanted = first.facts();
  if (facts.dtype == wanted.dtype && facts.shape == wanted.shape && facts.is_list == wanted.is_list)
    return;
  const auto shown = [](const ParquetFile::Facts& of) {
    return (of.is_list ? "lists of " : "") + std::string(to_string(of.dtype)) + " " +
           of.shape.to_string();
  };
  throw Error(ErrorKind::data, file.path() + ": has " + shown(facts) + " where " + first.path() +
                                   " has " + shown(wanted));
}

}  // namespace

std::uint64_t ParquetRow::value_bytes() const noexcept {
  if (!shape.is_static()) return 0;
  return static_cast<std::uint64_t>(shape.elements()) * size_of(dtype);
}

ParquetRow ParquetSet::look_at(const std::string& path, const ParquetColumns& columns) {
  return row_of(*open_parquet(
      {.file = parquet_paths(path).front(), .image = columns.image, .label = columns.label}));
}

ParquetSet::ParquetSet(const std::string& path, ParquetColumns columns, const OpenContext& context)
    : has_labels_(!columns.label.empty()) {
  const std::vector<std::string> paths = parquet_paths(path);
  files_.resize(paths.size());
  parallel_for(paths.size(), 1, context.stop, [&](std::uint64_t i) {
    files_[i] = open_parquet({.file = paths[i], .image = columns.image, .label = columns.label});
  });
  row_ = row_of(*files_.front());
  std::uint64_t rows = 0;
  for (const auto& file : files_) {
    require_same(*file, *files_.front());
    for (const ParquetFile::Group& group : file->facts().groups) {
      groups_.push_back({file.get(), &group});
      ends_.push_back(rows += group.rows);
    }
  }
}

ParquetSet::Place ParquetSet::locate(std::uint64_t index) const {
  const auto [group, row] = place_of_sample(ends_, index);
  return {group, row};
}

RowBlock ParquetSet::block(std::size_t group) const {
  return {groups_[group].facts->rows, has_labels_, row_.value_bytes()};
}

const std::string& ParquetSet::path(std::size_t group) const { return groups_[group].file->path(); }

std::uint64_t ParquetSet::bytes(std::size_t group) const {
  return block(group).least_bytes() + groups_[group].facts->value_bytes;
}

std::uint64_t ParquetSet::stored_bytes(std::size_t group) const {
  return groups_[group].facts->image.bytes + groups_[group].facts->label.bytes;
}

void ParquetSet::read(std::size_t group, std::uint64_t most_bytes,
                      std::vector<std::byte>& out) const {
  const auto& [file, facts] = groups_[group];
  file->read(*facts, block(group), most_bytes, out);
}

std::vector<FileRange> ParquetSet::files(const Place& place) const {
  const auto& [file, facts] = groups_[place.group];
  const auto share = [&, file = file, rows = facts->rows](const ParquetFile::Chunk& chunk) {
    return share_of({file->path(), chunk.offset, chunk.bytes}, place.row, rows);
  };
  std::vector<FileRange> ranges{share(facts->image)};
  if (has_labels_) ranges.push_back(share(facts->label));
  return ranges;
}

}  // namespace cachebisect::stages
