// The files of a model as inputs of a run.
#pragma once

#include <string>

namespace carbon {

/// Declares (src/files/run_files.hpp) the files of a model that a command line names, as path or name, or of
/// an adapter; "" is the model of a run for which none is named. Says nothing of what is not one: whoever
/// opens it reports that. Throws Error, from `function`, if an output would replace one of them.
void declare_model(const std::string& model, const std::string& function);

}  // namespace carbon
