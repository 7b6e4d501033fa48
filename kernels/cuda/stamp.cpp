// The stamp of carbon-cuda.so. A backend that is linked into the program needs none.
#include "backend_stamp.h"

extern "C" __attribute__((visibility("default"))) const char* carbon_cuda_stamp() {
  return CARBON_BACKEND_STAMP;
}
