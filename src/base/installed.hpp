// Where `make install` puts the files that the program reads at run time.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// Directories of installed data, in the order to search them; models are in their carbon/models. First the
/// directory in its place relative to this program, which is right if the installed tree was moved or lies
/// under a DESTDIR. Then the configured directory, if it is another one.
std::vector<std::string> installed_data_directories();
/// The same for the directories of installed plugins and of carbon-cuda.so.
std::vector<std::string> installed_library_directories();

}  // namespace carbon
