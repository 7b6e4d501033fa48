// Variant-effect scores for the records of a VCF or BCF. The model is a directory, staged like any other input, so that
// a container or another machine sees it; nothing is downloaded.
process CARBON_VEP {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'carbon:0.2.0'

    input:
    tuple val(meta), path(variants)
    tuple val(meta2), path(fasta), path(fai)
    tuple val(meta3), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: variants
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.carbon"
    suffix     = task.ext.suffix ?: 'vcf.gz'
    """
    carbon vep \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        --fasta-ref ${fasta} \\
        ${args} \\
        --output ${prefix}.${suffix} \\
        ${variants}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}.carbon"
    suffix = task.ext.suffix ?: 'vcf.gz'
    """
    touch ${prefix}.${suffix}
    """
}
