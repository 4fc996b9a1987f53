#include <nlohmann/json.hpp>

#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/plan/plan_writers.hpp"
#include "cachebisect/report/json/result_fields.hpp"

namespace cachebisect::plan {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Row>& row) {
  v.text({"name"}, row.machine.name);
  v.number({"cores"}, row.machine.cores);
  v.number({"auxiliary_cores"}, row.machine.auxiliary_cores);
  v.whole({"accelerators"}, row.machine.accelerators);
  v.whole({"workers_each"}, row.workers);
  rate(v, {"predicted"}, row.rate);
  v.number({"ceiling_samples_per_second"}, row.ceiling);
  v.text({"limit"}, row.limit);
  v.number({"cores_for_ceiling"}, row.cores_for_ceiling);
  v.number({"storage_bytes_per_second_for_ceiling"}, row.storage_for_ceiling);
  v.number({"price_per_million_samples"}, row.price_per_million);
}

std::string to_json(const Plan& plan) {
  const auto name_of = [&plan](const std::optional<std::size_t>& row) {
    return row ? plan.rows[*row].machine.name : std::string();
  };
  JsonWriter v;
  v.text({"name"}, plan.name);
  v.number({"measured_cores"}, plan.cores);
  rate(v, {"measured"}, plan.live);
  v.list({"machines"}, plan.rows);
  v.optional_text({"fewest_cores"}, name_of(plan.smallest));
  v.optional_text({"cheapest"}, name_of(plan.cheapest));
  return v.json().dump(2, ' ', true, JsonWriter::Json::error_handler_t::replace) + '\n';
}

}  // namespace cachebisect::plan
