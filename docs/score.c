/* Scores the sequences of its arguments with libcarbon, in standard C:
 *
 *     cc -std=c99 score.c -lcarbon -o score && ./score ACGTACGTACGT
 *
 * A line for each: how many bases were scored, and the natural logarithm of the probability of all of them. */
#include <carbon/carbon.h>
#include <stdio.h>
#include <string.h>

/* Prints what was wrong, and returns the exit status. */
static int failed(const char *what)
{
  fprintf(stderr, "score: %s: %s\n", what, carbon_error_text());
  return 1;
}

/* Prints the next result, for which it waits as long as it takes. Returns the code of carbon_call_next(). */
static int print_next(carbon_call *call)
{
  const void *scored, *sum;
  int code;

  do {
    code = carbon_call_next(call, 1000);
  } while (code == CARBON_E_AGAIN);
  if (code != CARBON_OK) return code;
  code = carbon_call_array(call, "n_scored", &scored, NULL, NULL, NULL, NULL);
  if (code == CARBON_OK) code = carbon_call_array(call, "sum_logp", &sum, NULL, NULL, NULL, NULL);
  if (code == CARBON_OK) printf("%ld\t%.10g\n", (long)*(const int64_t *)scored, *(const double *)sum);
  return code;
}

int main(int argc, char **argv)
{
  carbon_model *model;
  carbon_call *call;
  int code = CARBON_OK, i;

  if (carbon_api_version() < CARBON_API_VERSION) return failed("the library is older than this program");
  if (carbon_model_open(NULL, &model) != CARBON_OK) return failed("no model");
  if (carbon_call_new(model, "score", "{\"strand\":\"+\"}", &call) != CARBON_OK) return failed("score");
  for (i = 1; i < argc && code == CARBON_OK; ++i) {
    code = carbon_call_add(call, argv[i], (int64_t)strlen(argv[i]));
    if (code != CARBON_E_AGAIN) continue;
    code = print_next(call); /* makes room; the same sequence again */
    --i;
  }
  if (code == CARBON_OK) code = carbon_call_end(call);
  while (code == CARBON_OK) code = print_next(call);
  if (code != CARBON_E_END) return failed("score");
  carbon_call_free(call);
  carbon_model_close(model);
  return 0;
}
