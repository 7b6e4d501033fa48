// A score for every SNV of a genome: a table, or VCF, BCF or bedGraph with -O in task.ext.args (not bigWig, which is four files).
// A share of the genome with task.ext.args = '--shard 1/100'; workflows/join-scan.sh puts such parts together.
process CARBON_SCAN {
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
    tuple val(meta), path("${prefix}.${suffix}"), emit: scan
    tuple val(meta), path("${prefix}.${suffix}.{csi,tbi}"), emit: index, optional: true
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.scan"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*bedgraph/) ? 'bedgraph.gz' :
                 (args =~ /(^| )(-O|--output-type)[ =]*[ub]/) ? 'bcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*v/) ? 'vcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*z/) ? 'vcf.gz' :
                 'tsv.gz'
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
    def args   = task.ext.args ?: ''
    prefix     = task.ext.prefix ?: "${meta.id}.scan"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*bedgraph/) ? 'bedgraph.gz' :
                 (args =~ /(^| )(-O|--output-type)[ =]*[ub]/) ? 'bcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*v/) ? 'vcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*z/) ? 'vcf.gz' :
                 'tsv.gz'
    def index  = (args =~ /(^| )(-W|--write-index)=?tbi/) ? 'tbi' : (args =~ /(^| )(-W|--write-index)/) ? 'csi' : ''
    def create = suffix.endsWith('.gz') ? 'echo "" | gzip >' : 'touch'
    def touch  = index ? "touch ${prefix}.${suffix}.${index}" : ''
    """
    ${create} ${prefix}.${suffix}
    ${touch}
    """
}
