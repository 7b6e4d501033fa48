// What the endpoints in bases (/v1/dna/...) and their answers have in common: sequences and options that are
// named as those of the commands, and lists of numbers that may be long.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/formats/sequence_inputs.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"
#include "src/serve/fields.hpp"
#include "src/serve/options.hpp"

namespace carbon {

/// A request with many windows that overlap reads its bases again and again. So often at most, on the mean,
/// because all its windows are planned before the first one runs.
inline constexpr size_t kMostReads = 10;

/// The bases of the field `sequence`. Throws ApiError if there are more than the limit.
std::string sent_sequence(const Fields& fields, const RequestLimits& limits);
/// The bases of the field `sequences`, a list of strings.
std::vector<std::string> sent_sequences(const Fields& fields, const RequestLimits& limits);
/// The field `strand`: +, - or both.
StrandChoice read_strand(const Fields& fields, StrandChoice otherwise);
/// A field that is a number of bases; 0 if it is missing.
size_t read_bp(const Fields& fields, const std::string& name);
/// The fields `pool` and `pad_tail`, and those that say how the values of a classification head are written:
/// `labels`, a list of names; `activation`; and `label_scale`, which is what the file of that option holds.
Pooling read_pooling(const Fields& fields);
LabelSettings read_label_settings(const Fields& fields);
/// Throws ApiError if windows with `bases` bases in all are too many for the server.
void check_reads(size_t bases, const RequestLimits& limits, const std::string& field);

/// Appends a number so that it reads back exactly; null if it is not finite. The tree of a JSON library would
/// take gigabytes for a list of some million numbers.
void append_json(double number, std::string& text);

}  // namespace carbon
