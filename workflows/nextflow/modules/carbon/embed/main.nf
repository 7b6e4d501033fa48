// Hidden states of FASTA sequences as a matrix, with a table that says which rows are whose. With -O tsv in task.ext.args the
// names are in the matrix itself.
process CARBON_EMBED {
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
    tuple val(meta), path("${prefix}.${suffix}"), emit: matrix
    tuple val(meta), path("${prefix}.names.tsv"), emit: names, optional: true
    tuple val(meta), path("${prefix}.json"), emit: provenance, optional: true
    tuple val("${task.process}"), val('carbon'), eval("carbon --version | sed -n '1s/^carbon //p'"), emit: versions_carbon, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args   = task.ext.args ?: ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    prefix     = task.ext.prefix ?: "${meta.id}.embedding"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*safetensors/) ? 'safetensors' :
                 (args =~ /(^| )(-O|--output-type)[ =]*tsv/) ? 'tsv' :
                 'npy'
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
    def args   = task.ext.args ?: ''
    prefix     = task.ext.prefix ?: "${meta.id}.embedding"
    suffix     = (args =~ /(^| )(-O|--output-type)[ =]*safetensors/) ? 'safetensors' :
                 (args =~ /(^| )(-O|--output-type)[ =]*tsv/) ? 'tsv' :
                 'npy'
    def names  = suffix == 'tsv' ? '' : "touch ${prefix}.names.tsv"
    def record = suffix == 'npy' ? "touch ${prefix}.json" : ''
    """
    touch ${prefix}.${suffix}
    ${names}
    ${record}
    """
}
