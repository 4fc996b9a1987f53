#include "cachebisect/shards/shard_set.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/format/json_reader.hpp"
#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/shards/shard_file.hpp"

namespace cachebisect {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, FieldSpec>& field) {
  constexpr std::array kTypes{DType::uint8,   DType::int8,    DType::uint16,   DType::int32,
                              DType::int64,   DType::float16, DType::bfloat16, DType::float32,
                              DType::float64, DType::boolean};
  v.text({.name = "name", .presence = Presence::required}, field.name);
  v.choice({.name = "dtype", .presence = Presence::required}, field.dtype, kTypes);
  if constexpr (Visitor::kReads) {
    std::vector<std::int64_t> dims;
    for (const JsonValue& dim : v.object()["shape"].items()) {
      dims.push_back(dim.whole(kDynamic, std::numeric_limits<std::int32_t>::max()));
    }
    if (dims.size() > Shape::kMaxRank) {
      v.object()["shape"].refuse("must have at most " + std::to_string(Shape::kMaxRank) +
                                 " dimensions");
    }
    field.shape = Shape(dims);
  } else {
    v.wholes({"shape"}, std::vector<int>(field.shape.dims().begin(), field.shape.dims().end()));
  }
}

namespace shards {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, ShardFacts>& shard) {
  v.text({.name = "file", .presence = Presence::required}, shard.file);
  v.count({"samples"}, shard.samples);
  v.count({"bytes"}, shard.bytes);
  v.text({"index_checksum"}, shard.index_checksum);
}

namespace {

constexpr JsonLimits kLimits{.max_bytes = std::size_t{64} << 20U,
                             .document = "the index of a prepared data set"};
constexpr int kFormat = 1;

template <class Visitor>
void set_fields(Visitor& v, Visited<Visitor, ShardSet>& set) {
  v.text({.name = "after", .presence = Presence::required}, set.after);
  v.text({.name = "codec", .presence = Presence::required}, set.codec);
  v.text({"content"}, set.content);
  v.text({.name = "digest", .presence = Presence::required}, set.digest);
  v.list({"fields"}, set.spec);
  v.count({"source_samples"}, set.source_samples);
  v.flag({"generated"}, set.generated);
  v.list({"shards"}, set.shards);
}

/// Whether its static dimensions alone are more than a sample may have.
bool is_too_large(const FieldSpec& field) {
  std::size_t bytes = size_of(field.dtype);
  return std::ranges::any_of(field.shape.dims(), [&bytes](std::int64_t dim) {
    const auto factor = static_cast<std::size_t>(std::max<std::int64_t>(dim, 1));
    return __builtin_mul_overflow(bytes, factor, &bytes) || bytes > kMostRecordBytes;
  });
}

void check(const ShardSet& set, const std::string& origin) {
  const auto refuse = [&origin](const std::string& what) {
    throw Error(ErrorKind::usage, origin + ": " + what);
  };
  if (set.spec.empty()) refuse("/fields must name a field");
  for (const FieldSpec& field : set.spec) {
    if (is_too_large(field)) {
      refuse("/fields: a field of " + field.shape.to_string() +
             " is larger than a sample may be (1 GiB)");
    }
    if (find_field(set.spec, field.name) != &field) {
      refuse("/fields: " + quote(field.name) + " appears twice");
    }
  }
  for (const ShardFacts& shard : set.shards) {
    if (shard.file.empty() || shard.file.find('/') != std::string::npos)
      refuse("/shards: a file must lie in the folder");
  }
}

std::string remote_text(const std::string& path, const std::shared_ptr<const RemoteStore>& store) {
  const auto file = open_bytes(path, store);
  if (file->size() > kLimits.max_bytes) {
    throw Error(ErrorKind::data, file->path() + ": is too large for " +
                                     std::string(kLimits.document) + " (" +
                                     std::to_string(file->size()) + " bytes)");
  }
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

ShardSet load_remote_set(const std::string& folder,
                         const std::shared_ptr<const RemoteStore>& store) {
  const std::string path = folder + "/" + kIndexName;
  std::string text;
  try {
    text = remote_text(path, store);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    throw Error(ErrorKind::data,
                std::string(error.what()) +
                    "; name the folder that `cachebisect prepare` wrote, copied to "
                    "the server as a whole");
  }
  try {
    return parse_shard_set(text, shown_path(path));
  } catch (const Error& error) {
    throw Error(ErrorKind::data, std::string(error.what()) +
                                     "; copy the folder that `cachebisect prepare` wrote again");
  }
}

template <class Part, class Count>
std::uint64_t sum(const std::vector<Part>& parts, const Count& count) {
  return std::accumulate(
      parts.begin(), parts.end(), std::uint64_t{0},
      [&](std::uint64_t so_far, const Part& part) { return so_far + count(part); });
}

}  // namespace

std::uint64_t ShardSet::samples() const noexcept {
  return sum(shards, [](const ShardFacts& shard) { return shard.samples; });
}

std::uint64_t ShardSet::bytes() const noexcept {
  return sum(shards, [](const ShardFacts& shard) { return shard.bytes; });
}

std::string to_json(const ShardSet& set) {
  JsonWriter writer;
  writer.whole({"format"}, kFormat);
  set_fields(writer, set);
  return writer.json().dump(1, ' ', true, JsonWriter::Json::error_handler_t::replace) + '\n';
}

ShardSet parse_shard_set(std::string_view text, const std::string& origin) {
  const nlohmann::json document = read_json(text, origin, kLimits);
  const JsonValue value(document, origin);
  JsonReader reader(value);
  int format = 0;
  reader.whole({"format"}, format);
  if (format != kFormat) value["format"].refuse("must be 1, as this version reads it");
  ShardSet set;
  set_fields(reader, set);
  check(set, origin);
  return set;
}

ShardSet load_shard_set(const std::string& folder,
                        const std::shared_ptr<const RemoteStore>& store) {
  if (store) return load_remote_set(folder, store);
  const std::string file = folder + "/" + kIndexName;
  if (!exists(file)) {
    throw Error(ErrorKind::data,
                exists(folder + "/" + kUnfinishedName)
                    ? folder +
                          ": its data set is not whole yet; the same `cachebisect prepare` "
                          "goes on where it ended"
                    : folder + ": has no " + kIndexName +
                          "; `cachebisect prepare --pipeline FILE --out FOLDER` writes one");
  }
  try {
    return parse_shard_set(read_text_file(file, kLimits.max_bytes, kLimits.document), file);
  } catch (const Error& error) {
    throw Error(ErrorKind::data, std::string(error.what()) +
                                     "; remove this file: the same `cachebisect prepare` then "
                                     "writes it again, and what else is damaged");
  }
}

std::optional<ShardSet> find_shard_set(const std::string& folder, const char* name) {
  const std::string file = folder + "/" + name;
  if (!exists(file)) return std::nullopt;
  try {
    return parse_shard_set(read_text_file(file, kLimits.max_bytes, kLimits.document), file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<ShardSet> find_shard_set(const std::string& folder) {
  auto whole = find_shard_set(folder, kIndexName);
  return whole ? whole : find_shard_set(folder, kUnfinishedName);
}

std::string shard_name(std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
  return "shard-" + digits + ".cbs";
}

std::string checksum_text(std::uint64_t checksum) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(checksum));
  return text.data();
}

std::uint64_t text_digest(std::string_view text) {
  return checksum(std::as_bytes(std::span(text)));
}

}  // namespace shards
}  // namespace cachebisect
