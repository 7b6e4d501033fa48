// Log-likelihoods of FASTA sequences: a line a sequence, or a line a base with task.ext.args = '-O tsv' or '-O bedgraph'.
process CARBON_SCORE {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'carbon:0.2.0'

    input:
    tuple val(meta), path(fasta)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: scores
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.scores"
    suffix     = task.ext.suffix ?: 'tsv'
    """
    carbon score \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        ${args} \\
        --output ${prefix}.${suffix} \\
        ${fasta}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}.scores"
    suffix = task.ext.suffix ?: 'tsv'
    """
    touch ${prefix}.${suffix}
    """
}
