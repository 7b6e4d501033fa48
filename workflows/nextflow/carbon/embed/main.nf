// Hidden states of FASTA sequences as a matrix, with a table that says which rows are whose.
process CARBON_EMBED {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'carbon:0.2.0'

    input:
    tuple val(meta), path(fasta)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: matrix
    tuple val(meta), path("${prefix}.names.tsv"), emit: names
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.embedding"
    suffix     = task.ext.suffix ?: 'npy'
    """
    carbon embed \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        ${args} \\
        --output ${prefix}.${suffix} \\
        ${fasta}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}.embedding"
    suffix = task.ext.suffix ?: 'npy'
    """
    touch ${prefix}.${suffix} ${prefix}.names.tsv
    """
}
