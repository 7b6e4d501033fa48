=head1 NAME

Carbon - adds the scores of carbon to the output of Ensembl VEP

=head1 SYNOPSIS

 carbon scan -f GRCh38.fa -o scan.tsv.gz -W=tbi
 cp Carbon.pm ~/.vep/Plugins
 vep -i variants.vcf --cache --plugin Carbon,file=/full/path/scan.tsv.gz

=head1 DESCRIPTION

A plugin for Ensembl VEP that looks scores up in one table with a tabix index. The table is what

 carbon scan -f GRCh38.fa -o scan.tsv.gz -W=tbi

writes, with CARBON_SCAN of every SNV, or what

 carbon vep -f GRCh38.fa -o scored.tsv.gz variants.vcf.gz
 tabix -s1 -b2 -e2 scored.tsv.gz

write, with the scores of these variants, insertions and deletions included. The index has to be in the format .tbi.

Every column of the table after ALT becomes a field of VEP's output, under the name of the column. A value that is missing
(C<.>) gives no field. The description of a field has the line of the table's header that says which model made the scores.

A score belongs to the allele whose position, REF and ALT are those of the table, after the bases that REF and ALT share at
their ends are removed. Insertions and deletions are not moved along repeats, so give VEP the variants as they were given
to C<carbon vep>. Chromosomes may be named 1 in one of the two files and chr1 in the other.

Parameters:

 file         the table; the word file= may be left out if this is the only parameter
 expand_right how many bases after a variant are read at once and kept for the next variants (default: 0)
 cache_size   how many such stretches are kept (default: 1)

The program C<tabix> must be on the PATH. With the Perl module Bio::DB::HTS look-ups are faster.

=head1 LICENSE

Apache License, Version 2.0

=cut

package Carbon;

use strict;
use warnings;

use File::Basename qw(basename);

use Bio::EnsEMBL::Variation::Utils::BaseVepTabixPlugin;
use base qw(Bio::EnsEMBL::Variation::Utils::BaseVepTabixPlugin);

sub new {
  my $class = shift;
  my $self = $class->SUPER::new(@_);

  # Three lines a base: by default VEP's base class would read a million bases after each variant.
  $self->expand_left(0);
  $self->expand_right(0);
  $self->get_user_params();

  my $named = $self->params_to_hash();
  my $file = %$named ? $named->{file} : $self->params->[0];
  die "ERROR: no table given; use --plugin Carbon,file=/full/path/scan.tsv.gz\n" unless defined $file && length $file;
  $self->add_file($file);
  $self->_read_header($file);
  return $self;
}

# All variants, also those outside of genes.
sub feature_types {
  return ['Feature', 'Intergenic'];
}

sub get_header_info {
  my $self = shift;
  return {map { $_ => $self->{description} } @{$self->{scores}}};
}

# Where the columns are, and which model the scores are from.
sub _read_header {
  my ($self, $file) = @_;
  open(my $lines, '-|', 'tabix', '-H', $file) or die "ERROR: tabix cannot be run: $!\n";
  my ($model, @names);
  while (my $line = <$lines>) {
    chomp $line;
    $model = $1 if $line =~ /^##(carbon_\w+Model=.*)/;
    @names = split /\t/, $line if $line =~ /^#CHROM\t/;
  }
  close $lines or die "ERROR: $file: tabix cannot read its header\n";

  my %at = map { $names[$_] => $_ } 0 .. $#names;
  my @missing = grep { !exists $at{$_} } '#CHROM', 'POS', 'REF', 'ALT';
  die "ERROR: $file: no table of carbon scan or carbon vep; its header has no column @missing\n" if @missing;
  die "ERROR: $file: no column of scores after ALT\n" if $at{ALT} == $#names;

  $self->{at} = \%at;
  $self->{scores} = [@names[$at{ALT} + 1 .. $#names]];
  $self->{description} = join ' ', 'from', basename($file) . ',', $model // 'whose header names no model';
}

sub run {
  my ($self, $allele) = @_;
  my $feature = $allele->variation_feature;
  my ($ref, $alt) = map { uc($_ // '') } $feature->ref_allele_string, $allele->variation_feature_seq;
  return {} unless $ref =~ /^(?:[ACGT]+|-)$/ && $alt =~ /^(?:[ACGT]+|-)$/;
  tr/-//d for $ref, $alt;
  if ($feature->strand < 0) {
    ($ref, $alt) = map { tr/ACGT/TGCA/r } scalar reverse($ref), scalar reverse($alt);
  }

  # VEP has removed the base before an insertion or deletion, at whose position the table has the line.
  my $start = $feature->{start};
  my $first = $start > 1 ? $start - 1 : 1;
  my $last = $start + length($ref) - 1;
  my $wanted = _key($start, $ref, $alt);
  for my $line (@{$self->get_data($feature->{chr}, $first, $last < $first ? $first : $last)}) {
    return {%{$line->{result}}} if $line->{key} eq $wanted;
  }
  return {};
}

# An allele without the bases that REF and ALT share at their ends. Those at the beginning go first, because VEP may already
# have removed one of them.
sub _key {
  my ($start, $ref, $alt) = @_;
  while (length $ref && length $alt && substr($ref, 0, 1) eq substr($alt, 0, 1)) {
    substr($_, 0, 1) = '' for $ref, $alt;
    $start++;
  }
  while (length $ref && length $alt && substr($ref, -1) eq substr($alt, -1)) {
    chop $ref;
    chop $alt;
  }
  return "$start $ref $alt";
}

sub parse_data {
  my ($self, $line) = @_;
  my $at = $self->{at};
  my @values = split /\t/, $line;
  my ($position, $ref, $alt) = @values[@$at{qw(POS REF ALT)}];
  my %result;
  for my $name (@{$self->{scores}}) {
    my $value = $values[$at->{$name}];
    $result{$name} = $value if defined $value && $value ne '.';
  }
  return {
    start => $position,
    end => $position + length($ref) - 1,
    key => _key($position, uc $ref, uc $alt),
    result => \%result,
  };
}

sub get_start {
  return $_[1]->{start};
}

sub get_end {
  return $_[1]->{end};
}

1;
