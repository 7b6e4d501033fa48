// What the command line adds to the message of an Error or a warning: the options that would help.
//
// The library below says what is wrong and, as an Advice (src/base/error.hpp), which kind of help there is.
// Only this file and the commands know how options are spelled. The log of the program
// (stderr_log.hpp) prints the sentence after the message and "; ".
#pragma once

#include <string>

#include "src/base/error.hpp"

namespace carbon {

/// A sentence without a full stop. Empty for no advice.
std::string advice_text(const Advice& advice);

}  // namespace carbon
