#include <nlohmann/json.hpp>

#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/prepare/prepare_text.hpp"

namespace cachebisect::prepare {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StoredCost>& stored) {
  v.text({"codec"}, stored.codec);
  v.number({"bytes"}, stored.bytes);
  v.number({"write_seconds"}, stored.write_seconds);
  v.number({"read_seconds"}, stored.read_seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Place>& place) {
  v.text({"after"}, place.after);
  v.number({"seconds"}, place.seconds);
  v.list({"stored"}, place.stored);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Written>& written) {
  v.text({"after"}, written.after);
  v.text({"codec"}, written.codec);
  v.count({"samples"}, written.samples);
  v.count({"left_out"}, written.left_out);
  v.count({"resumed"}, written.resumed);
  v.count({"shards"}, written.shards);
  v.count({"bytes"}, written.bytes);
  v.number({"seconds"}, written.seconds);
  v.optional_text({"pipeline"}, written.pipeline);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Choice>& choice) {
  v.text({"after"}, choice.place.after);
  v.text({"codec"}, choice.stored.codec);
  v.number({"gain"}, choice.gain);
}

std::string to_json(const Result& result) {
  JsonWriter v;
  v.text({"name"}, result.name);
  v.text({"folder"}, result.folder);
  v.count({"samples"}, result.places.samples);
  v.number({"seconds"}, result.places.seconds);
  v.number({"free_bytes"}, result.free_bytes);
  v.optional_text({"random"}, result.places.random);
  v.list({"places"}, result.places.all);
  v.part({"choice"}, result.choice);
  v.part({"written"}, result.written);
  return v.json().dump(2, ' ', true, JsonWriter::Json::error_handler_t::replace) + '\n';
}

}  // namespace cachebisect::prepare
