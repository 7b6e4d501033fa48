// Where `make install` has put what the program reads at run time.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// The directory of installed data, with models in carbon/models: first as it lies from this program, if the
/// whole tree was moved or lies under a DESTDIR, then as it was configured. Once if these are the same.
std::vector<std::string> installed_data_directories();
/// The directory of installed plugins and of carbon-cuda.so, likewise.
std::vector<std::string> installed_library_directories();

}  // namespace carbon
