// JSON documents against a JSON schema.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace cachebisect::test {

class JsonSchema {
 public:
  explicit JsonSchema(const std::string& text) {
    const nlohmann::json document = nlohmann::json::parse(text);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }
  /// What the schema refuses, one description per line; "" if the document is valid.
  [[nodiscard]] std::string refusal(const nlohmann::json& document) const {
    valijson::ValidationResults results;
    valijson::Validator().validate(schema_, valijson::adapters::NlohmannJsonAdapter(document),
                                   &results);
    std::string text;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
      text += error.description + "\n";
    }
    return text;
  }

 private:
  valijson::Schema schema_;
};

}  // namespace cachebisect::test
