"""Runs nf-core's lint of modules and counts its results by check: lint.py REPOSITORY present|absent (the schemas).

lint.sh calls it. nf-core's own command ends where there is no Nextflow, because it asks Nextflow for a configuration that a
repository of modules need not have. Here the configuration is then empty, no container is resolved, and the checks that need
Nextflow are not counted.
"""

import collections
import logging
import shutil
import sys

import nf_core
import nf_core.components.nfcore_component
import nf_core.utils

# Checks of what Nextflow says of the containers, of what conda's server says, and of the schemas in nf-core's repository.
NEED_NEXTFLOW = {"docker_tag", "singularity_tag", "oras_singularity_tag", "main_nf_container"}
NEED_CONDA = {"bioconda_version", "bioconda_latest"}
NEED_SCHEMAS = {"meta_yml_valid", "environment_yml_valid"}
REGISTRY = ("registry.example.org",)


def main(repository, schemas):
    apart = {}
    if not shutil.which("nextflow"):
        nf_core.utils.fetch_wf_config = lambda *_, **__: {}
        nf_core.components.nfcore_component.check_nextflow_version = lambda *_, **__: False
        logging.getLogger("nf_core").setLevel(logging.ERROR)  # a warning for each module that has no container then
        apart.update(dict.fromkeys(NEED_NEXTFLOW, "needs Nextflow"))
    if schemas == "absent":
        apart.update(dict.fromkeys(NEED_SCHEMAS, "needs the schemas of nf-core's repository"))
    # The package is on no channel yet: without a network this is a warning, with one a failure.
    apart.update(dict.fromkeys(NEED_CONDA, "needs a published package, and conda's server"))

    from nf_core.modules.lint import ModuleLint

    lint = ModuleLint(repository, registry=REGISTRY, hide_progress=True)
    lint.lint(all_modules=True, print_results=False)

    counts = collections.defaultdict(collections.Counter)
    for outcome, results in (("passed", lint.passed), ("warned", lint.warned), ("failed", lint.failed)):
        for result in results:
            counts[result.lint_test][outcome] += 1
    print("nf-core %s, %d modules" % (nf_core.__version__, len(lint.all_remote_components)))
    print("%-30s %7s %7s %7s" % ("check", "passed", "warned", "failed"))
    for check, found in sorted(counts.items()):
        print("%-30s %7d %7d %7d  %s" % (check, found["passed"], found["warned"], found["failed"], apart.get(check, "")))
    counted = [sum(found[outcome] for check, found in counts.items() if check not in apart)
               for outcome in ("passed", "warned", "failed")]
    print("%-30s %7d %7d %7d" % ("together, but for those apart", *counted))
    for outcome, results in (("warned", lint.warned), ("failed", lint.failed)):
        for result in results:
            if result.lint_test not in apart:
                print("%s: %s: %s: %s" % (outcome, result.component_name, result.lint_test, result.message))
    return 1 if counted[2] or not counted[0] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
