// The numbers of a stored matrix, whatever its type, and whether two matrices have the same ones.
#pragma once

#include <cstddef>

#include "kernels/tensor.hpp"

namespace carbon {

/// The numbers of a row as f32. The matrix need not be aligned.
void widen_row(const TensorView& matrix, size_t row, float* out);

/// True if `copy` has the shape and the numbers of `original`, rounded to the type of `copy`. Gives the pages
/// that it has read back to the system if they are those of files.
bool is_copy_of(const TensorView& copy, const TensorView& original);

}  // namespace carbon
