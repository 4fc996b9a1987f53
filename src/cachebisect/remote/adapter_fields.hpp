// The fields of what an adapter says of itself and of the sizes of samples (base/fields.hpp).
#pragma once

#include "cachebisect/base/fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, AdapterHello>& hello) {
  v.count({"protocol", "version that the adapter speaks"}, hello.protocol);
  v.text({"adapter", "its name and version"}, hello.adapter);
  v.count({"pid"}, hello.process);
  v.whole(if_sent("rank"), hello.rank);
  v.whole(if_sent("world"), hello.world);
  v.optional_text({"python", "version"}, hello.python);
  v.optional_text({"torch", "version; null: not imported by then"}, hello.torch);
  v.optional_text({"program", "what runs"}, hello.program);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, AdapterSizes>& sizes) {
  v.numbers({"item_bytes", "per sample, by boundary"}, sizes.item_bytes);
  v.count({"samples_in_flight"}, sizes.samples_in_flight);
  v.count(if_sent("round_to"), sizes.round_to);
  v.number({"device_free_bytes"}, sizes.device_free_bytes);
}

}  // namespace cachebisect
