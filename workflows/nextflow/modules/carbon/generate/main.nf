// New sequence that continues FASTA prompts by a number of bases.
process CARBON_GENERATE {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    // No image is published yet: registry.example.org is a placeholder for the registry that has your image.
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://registry.example.org/singularity/carbon:0.3.0' :
        'registry.example.org/carbon:0.3.0' }"

    input:
    tuple val(meta), path(prompts)
    tuple val(meta2), path(model)
    val length

    output:
    tuple val(meta), path("${prefix}.fa.gz"), emit: sequences
    tuple val(meta), path("${prefix}.json"), emit: provenance
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.generated"
    """
    carbon generate \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        --length ${length} \\
        ${args} \\
        --output ${prefix}.fa.gz \\
        ${prompts}
    """

    stub:
    prefix     = task.ext.prefix ?: "${meta.id}.generated"
    """
    echo "" | gzip > ${prefix}.fa.gz
    touch ${prefix}.json
    """
}
