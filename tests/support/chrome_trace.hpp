// A Chrome trace, by the rules that its readers enforce.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace cachebisect::test {

struct TraceSlice {
  std::int64_t begin;  ///< nanoseconds
  std::int64_t end;
  std::string name;
};

/// By track, in order of their beginnings; of those that begin together the longest first.
using TraceTracks = std::map<std::int64_t, std::vector<TraceSlice>>;

inline std::int64_t trace_nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

/// Checks on the way that every slice has args and a duration.
inline TraceTracks trace_tracks(const nlohmann::json& trace) {
  TraceTracks tracks;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    CHECK(event["args"].is_object());
    CHECK(event["dur"].get<double>() >= 0);
    const std::int64_t begin = trace_nanoseconds(event["ts"]);
    tracks[event["tid"].get<std::int64_t>()].push_back(
        {begin, begin + trace_nanoseconds(event["dur"]), event["name"].get<std::string>()});
  }
  for (auto& [track, slices] : tracks) {
    std::sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }
  return tracks;
}

/// Slices of a track that overlap without one being within the other.
inline int trace_crossings(const std::vector<TraceSlice>& slices) {
  int found = 0;
  std::vector<std::int64_t> open;
  for (const TraceSlice& slice : slices) {
    while (!open.empty() && open.back() <= slice.begin) open.pop_back();
    if (!open.empty() && slice.end > open.back()) ++found;
    open.push_back(slice.end);
  }
  return found;
}

inline std::vector<nlohmann::json> trace_events_named(const nlohmann::json& trace,
                                                      const std::string& name) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event.value("name", "") == name) found.push_back(event);
  }
  return found;
}

}  // namespace cachebisect::test
