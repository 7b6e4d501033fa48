// New sequence that continues FASTA prompts by a number of bases.
process CARBON_GENERATE {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'carbon:0.2.0'

    input:
    tuple val(meta), path(prompts)
    tuple val(meta2), path(model)
    val length

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: sequences
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.generated"
    suffix     = task.ext.suffix ?: 'fa'
    """
    carbon generate \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        --length ${length} \\
        ${args} \\
        --output ${prefix}.${suffix} \\
        ${prompts}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}.generated"
    suffix = task.ext.suffix ?: 'fa'
    """
    touch ${prefix}.${suffix}
    """
}
