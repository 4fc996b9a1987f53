// Which stage of one chain is which of another: by name, else by type.
#include "cachebisect/compare/stage_matches.hpp"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("stages match by name, wherever they stand, and whatever their type") {
  const StageMatches matches({{"read", "read.a"}, {"crop", ""}},
                             {{"new", ""}, {"crop", "augment.crop"}, {"read", "read.b"}});
  CHECK(matches.of(0) == 2U);
  CHECK(matches.of(1) == 1U);
  CHECK(matches.notes_of_renamed().empty());
  CHECK(matches.notes_of_unmatched() == Notes{"stage new is in B alone"});
}

TEST_CASE("a stage that was renamed matches the only other one of its type that is left") {
  const StageMatches matches({{"read Old", "read"}, {"crop", "map"}, {"map f", "map"}},
                             {{"read New", "read"}, {"crop", "map"}, {"map g", "map"}});
  CHECK(matches.of(0) == 0U);
  CHECK(matches.of(1) == 1U);
  CHECK(matches.of(2) == 2U);
  CHECK(matches.notes_of_renamed() ==
        Notes{"'read Old' of A is compared with 'read New' of B, the only other stage of its kind",
              "'map f' of A is compared with 'map g' of B, the only other stage of its kind"});
  CHECK(matches.notes_of_unmatched().empty());
}

TEST_CASE("where several are left on either side, or the type is not known, none matches") {
  const StageMatches two_in_b({{"map f", "map"}}, {{"map g", "map"}, {"map h", "map"}});
  CHECK_FALSE(two_in_b.of(0));
  CHECK(two_in_b.notes_of_unmatched() == Notes{"stage map f is in A alone",
                                               "stage map g is in B alone",
                                               "stage map h is in B alone"});
  const StageMatches two_in_a({{"map f", "map"}, {"map g", "map"}}, {{"map h", "map"}});
  CHECK_FALSE(two_in_a.of(0));
  CHECK_FALSE(two_in_a.of(1));
  const StageMatches unknown({{"old", ""}}, {{"new", ""}});
  CHECK_FALSE(unknown.of(0));
  CHECK(unknown.notes_of_renamed().empty());
}
