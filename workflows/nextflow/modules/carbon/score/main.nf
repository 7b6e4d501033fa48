// Log-likelihoods of FASTA sequences: a line a sequence, or a line a base with task.ext.args = '-O tsv' or '-O bedgraph'.
process CARBON_SCORE {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    // No image is published yet: registry.example.org is a placeholder for the registry that has your image.
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://registry.example.org/singularity/carbon:0.3.0' :
        'registry.example.org/carbon:0.3.0' }"

    input:
    tuple val(meta), path(fasta), path(fai), path(gzi)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}.gz"), emit: scores
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.scores"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*bedgraph/) ? 'bedgraph' :
                 'tsv'
    """
    carbon score \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        ${args} \\
        --output ${prefix}.${suffix}.gz \\
        ${fasta}
    """

    stub:
    def args   = task.ext.args ?: ''
    prefix     = task.ext.prefix ?: "${meta.id}.scores"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*bedgraph/) ? 'bedgraph' :
                 'tsv'
    """
    echo "" | gzip > ${prefix}.${suffix}.gz
    """
}
