// The functions of cuBLASLt, which is no part of carbon: the library of the host is loaded when it is first
// needed, so that carbon starts, and computes elsewhere, where there is none.
#pragma once

#include <cublasLt.h>

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

}  // namespace carbon::cuda
