// A score for every SNV of a genome: a table, or VCF, BCF or bedGraph with ext.suffix and ext.args. A share of the genome with
// task.ext.args = '--shard 1/100'; workflows/join-scan.sh puts such parts together.
process CARBON_SCAN {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'carbon:0.2.0'

    input:
    tuple val(meta), path(fasta), path(fai)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: scan
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.scan"
    suffix     = task.ext.suffix ?: 'tsv.gz'
    """
    carbon scan \\
        --model ${model} \\
        --device ${device} \\
        --threads ${task.cpus} \\
        --fasta-ref ${fasta} \\
        ${args} \\
        --output ${prefix}.${suffix}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}.scan"
    suffix = task.ext.suffix ?: 'tsv.gz'
    """
    touch ${prefix}.${suffix}
    """
}
