#include "cachebisect/format/html/html_text.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::html;

TEST_CASE("text is escaped, on one line, and without control characters") {
  CHECK(text(R"(<b class="x">'&'</b>)").source() ==
        "&lt;b class=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
  CHECK(text("a\nb\x1b\x7f").source() == R"(a\nb\x1b\x7f)");
  CHECK(text("\xff\xc3").source() == R"(\xff\xc3)");
  CHECK(text("gr\xc3\xbc\xc3\x9f").source() == "gr\xc3\xbc\xc3\x9f");
}

TEST_CASE("attributes are escaped as text is") {
  CHECK(element("p", {{"title", "\"><script>"}}, text("x")).source() ==
        "<p title=\"&quot;&gt;&lt;script&gt;\">x</p>");
}

TEST_CASE("long texts are cut between characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc...");
  CHECK(shortened("\xc3\xbc\xc3\xbc\xc3\xbc", 2) == "\xc3\xbc\xc3\xbc...");
  CHECK(shortened("\xff\xff\xff", 2) == "\xff\xff...");
  CHECK(text(std::string(10'000, 'x')).source().size() < 700);
}

TEST_CASE("JSON in a script element cannot end it, and reads back the same") {
  const nlohmann::ordered_json value{{"</script><!--", "&\xe2\x80\xa8 ]]> \"quoted\""}};
  const std::string source = json_text(value).source();
  CHECK(source.find_first_of("<>&") == std::string::npos);
  CHECK(source.find('\xe2') == std::string::npos);
  CHECK(nlohmann::ordered_json::parse(source) == value);
}

TEST_CASE("JSON that is not UTF-8 is replaced, not refused") {
  CHECK(json_text(nlohmann::ordered_json("\xff")).source() == "\"\\ufffd\"");
}
