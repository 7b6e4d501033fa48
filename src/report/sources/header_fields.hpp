// The fields of structured lines of a header, such as ##INFO=<ID=AF,Number=A,...>.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// The fields in order, without quotation marks around values; none for a line of another form. A line that
/// breaks off keeps the fields before that.
HeaderFields header_fields(std::string_view line);
/// The value of a field, or "".
std::string header_field(const HeaderFields& fields, std::string_view key);

}  // namespace carbon
