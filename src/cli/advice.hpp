// What the command line adds to the message of an Error: the options that would help.
//
// The library below says what is wrong and, as an Advice (src/base/error.hpp), which kind of help there is.
// Only this file and the commands know how options are spelled.
#pragma once

#include <string>

#include "src/base/error.hpp"

namespace carbon {

/// A sentence without a full stop for the error's advice, to be printed after its message and "; ". Empty if
/// the error has no advice.
std::string advice_for(const Error& error);

}  // namespace carbon
