// Variant-effect scores for the records of a VCF or BCF. The model is a directory, staged like any other input, so that
// a container or another machine sees it; nothing is downloaded. Options, -O among them, are in task.ext.args.
process CARBON_VEP {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    // No image is published yet: registry.example.org is a placeholder for the registry that has your image.
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://registry.example.org/singularity/carbon:0.3.0' :
        'registry.example.org/carbon:0.3.0' }"

    input:
    tuple val(meta), path(variants), path(variants_index)
    tuple val(meta2), path(fasta), path(fai), path(gzi)
    tuple val(meta3), path(model)

    output:
    tuple val(meta), path("${prefix}.${suffix}"), emit: variants
    tuple val(meta), path("${prefix}.${suffix}.{csi,tbi}"), emit: index, optional: true
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.carbon"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*[ub]/) ? 'bcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*v/) ? 'vcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*t/) ? 'tsv.gz' :
                 'vcf.gz'
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
    def args   = task.ext.args ?: ''
    prefix     = task.ext.prefix ?: "${meta.id}.carbon"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*[ub]/) ? 'bcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*v/) ? 'vcf' :
                 (args =~ /(^| )(-O|--output-type)[ =]*t/) ? 'tsv.gz' :
                 'vcf.gz'
    def index  = (args =~ /(^| )(-W|--write-index)=?tbi/) ? 'tbi' : (args =~ /(^| )(-W|--write-index)/) ? 'csi' : ''
    def create = suffix.endsWith('.gz') ? 'echo "" | gzip >' : 'touch'
    def touch  = index ? "touch ${prefix}.${suffix}.${index}" : ''
    """
    ${create} ${prefix}.${suffix}
    ${touch}
    """
}
