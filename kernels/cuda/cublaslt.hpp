// The functions of cuBLASLt, which is no part of carbon: the library of the host is loaded when it is first
// needed, so that carbon starts, and computes elsewhere, where there is none.
//
// Here are also owners for its objects, and its status codes as Errors.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <type_traits>

#include "src/base/error.hpp"

namespace carbon::cuda {

struct BlasFunctions {
  size_t version;  // as cublasLtGetVersion() gives it: 130100 for 13.1.0
  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulDescCreate) operation_create;
  decltype(&cublasLtMatmulDescDestroy) operation_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) operation_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) propose;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get;
  decltype(&cublasLtMatmul) multiply;
};

/// Throws Error if there is no cuBLASLt of the version that carbon was compiled for; the next call looks
/// again.
const BlasFunctions& cublaslt();

inline void check_blas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error("cuda", std::string(what) + ": cuBLASLt: " + cublaslt().status_string(status));
}

template <class T, cublasStatus_t (*BlasFunctions::*Destroy)(T)>
struct BlasDestroyer {
  void operator()(T object) const { (cublaslt().*Destroy)(object); }
};
template <class T, cublasStatus_t (*BlasFunctions::*Destroy)(T)>
using BlasObject = std::unique_ptr<std::remove_pointer_t<T>, BlasDestroyer<T, Destroy>>;

using BlasLayout = BlasObject<cublasLtMatrixLayout_t, &BlasFunctions::layout_destroy>;
using BlasOperation = BlasObject<cublasLtMatmulDesc_t, &BlasFunctions::operation_destroy>;
using BlasPreference = BlasObject<cublasLtMatmulPreference_t, &BlasFunctions::preference_destroy>;
using BlasHandle = BlasObject<cublasLtHandle_t, &BlasFunctions::destroy>;

inline BlasHandle make_blas_handle() {
  cublasLtHandle_t handle = nullptr;
  check_blas(cublaslt().create(&handle), "starting cuBLASLt");
  return BlasHandle(handle);
}

/// A column-major matrix.
inline BlasLayout make_blas_layout(cudaDataType type, size_t rows, size_t columns, size_t ld) {
  cublasLtMatrixLayout_t layout = nullptr;
  check_blas(cublaslt().layout_create(&layout, type, rows, columns, static_cast<int64_t>(ld)),
             "describing a matrix");
  return BlasLayout(layout);
}

/// D = A^T B, summed in f32.
inline BlasOperation make_blas_operation() {
  cublasLtMatmulDesc_t operation = nullptr;
  check_blas(cublaslt().operation_create(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
  BlasOperation result(operation);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check_blas(cublaslt().operation_set(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
             "describing a product");
  return result;
}

template <class T>
void set_blas_preference(const BlasPreference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
                         T value) {
  check_blas(cublaslt().preference_set(preference.get(), attribute, &value, sizeof value),
             "choosing an algorithm");
}

/// Algorithms with at most `workspace` bytes of working memory.
inline BlasPreference make_blas_preference(size_t workspace) {
  cublasLtMatmulPreference_t preference = nullptr;
  check_blas(cublaslt().preference_create(&preference), "choosing an algorithm");
  BlasPreference result(preference);
  set_blas_preference(result, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspace});
  return result;
}

}  // namespace carbon::cuda
