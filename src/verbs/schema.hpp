// JSON Schemas of what verbs take, for the doors that describe themselves: openapi.json and the tools of
// carbon mcp.
#pragma once

#include <nlohmann/json.hpp>

#include "src/verbs/verb.hpp"

namespace carbon {

nlohmann::ordered_json text_schema(const char* about);
nlohmann::ordered_json list_schema(nlohmann::ordered_json items, const char* about);
nlohmann::ordered_json object_schema(
    nlohmann::ordered_json properties,
    const nlohmann::ordered_json& required = nlohmann::ordered_json::array());
/// Of an object that has no other members.
nlohmann::ordered_json closed_schema(
    nlohmann::ordered_json properties,
    const nlohmann::ordered_json& required = nlohmann::ordered_json::array());
/// What read_variant() reads.
nlohmann::ordered_json variant_schema();
/// Of what a door takes of a verb: its inputs, of which some are required, and the settings.
nlohmann::ordered_json request_schema(const VerbEntry& verb, Door door, nlohmann::ordered_json inputs,
                                      nlohmann::ordered_json required = nlohmann::ordered_json::array());

}  // namespace carbon
