#include "cachebisect/plan/machines.hpp"

#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/format/json_reader.hpp"

namespace cachebisect::plan {
namespace {

constexpr JsonLimits kLimits{
    .max_bytes = std::size_t{1} << 20U, .document = "a list of machines", .comments = true};
constexpr double kBytesPerMb = 1e6;
constexpr double kMost = 1e6;

/// A number above 0; keeps its value where the member is missing.
void positive(const JsonValue& machine, const char* name, double& value) {
  const JsonValue member = machine[name];
  if (member.is_null()) return;
  value = member.number();
  if (!(value > 0 && value <= kMost)) member.refuse("must be a number above 0, to 1000000");
}

void refuse_unknown(const JsonValue& machine) {
  static const std::set<std::string> kKnown{"name",
                                            "cores",
                                            "auxiliary_cores",
                                            "accelerators",
                                            "core_speed",
                                            "accelerator_speed",
                                            "storage_mb_per_s",
                                            "price_per_hour"};
  for (const auto& [name, value] : machine.members()) {
    if (kKnown.contains(name)) continue;
    std::string known;
    for (const std::string& one : kKnown) known += (known.empty() ? "" : ", ") + one;
    value.refuse("is not known; there are " + known);
  }
}

Machine machine_of(const JsonValue& value) {
  refuse_unknown(value);
  Machine machine{.name = value["name"].text()};
  if (value["cores"].is_null()) value["cores"].refuse("must be the number of physical cores");
  positive(value, "cores", machine.cores);
  if (!value["auxiliary_cores"].is_null())
    machine.auxiliary_cores = value["auxiliary_cores"].amount();
  machine.accelerators = value["accelerators"].whole_or(1, 1, 1024);
  positive(value, "core_speed", machine.core_speed);
  positive(value, "accelerator_speed", machine.accelerator_speed);
  if (!value["storage_mb_per_s"].is_null()) {
    double mb = 0;
    positive(value, "storage_mb_per_s", mb);
    machine.storage_bytes_per_second = mb * kBytesPerMb;
  }
  if (!value["price_per_hour"].is_null()) machine.price_per_hour = value["price_per_hour"].amount();
  return machine;
}

}  // namespace

std::vector<Machine> parse_machines(std::string_view text, const std::string& origin) {
  const nlohmann::json document = read_json(text, origin, kLimits);
  const JsonValue whole(document, origin);
  const JsonValue list = document.is_object() ? whole["machines"] : whole;
  std::vector<Machine> machines;
  for (const JsonValue& item : list.items()) machines.push_back(machine_of(item));
  if (machines.empty()) list.refuse("must have a machine, such as {\"name\": \"a\", \"cores\": 8}");
  return machines;
}

std::vector<Machine> load_machines(const std::string& file) {
  return parse_machines(read_text_file(file, kLimits.max_bytes, kLimits.document), file);
}

}  // namespace cachebisect::plan
