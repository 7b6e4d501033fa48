#!/usr/bin/env perl
# Runs a plugin of Ensembl VEP as VEP runs it: annotate.pl FOLDER PLUGIN[,PARAMETER]... < in.vcf
# Prints a line "# FIELD: description" for each field that the plugin announces, and then a line for each alternative of each
# record: CHROM, POS, REF, ALT, and the plugin's fields as NAME=VALUE. Alternatives that VEP gives to no plugin of this kind
# (symbolic ones) are left out. A record whose ID is -1 is given on the reverse strand.
use strict;
use warnings;

# What a plugin is given: an allele, and the variant that it belongs to.
package Bio::EnsEMBL::Variation::VariationFeature;
sub new { my ($class, %members) = @_; return bless {%members}, $class }
sub ref_allele_string { return $_[0]{alleles}[0] }
sub alt_alleles { my $self = shift; return [@{$self->{alleles}}[1 .. $#{$self->{alleles}}]] }
sub strand { return $_[0]{strand} }

package Bio::EnsEMBL::Variation::VariationFeatureOverlapAllele;
sub new { my ($class, %members) = @_; return bless {%members}, $class }
sub variation_feature { return $_[0]{feature} }
sub base_variation_feature { return $_[0]{feature} }
sub variation_feature_seq { return $_[0]{sequence} }

package main;

my ($folder, $configuration) = @ARGV;
unshift @INC, $folder;
my ($name, @parameters) = split /,/, $configuration;
eval "use $name; 1" or die "Failed to compile plugin $name: $@";
my $plugin = eval { $name->new({assembly => 'none'}, @parameters) } or die "Failed to instantiate plugin $name: $@";

my $announced = $plugin->get_header_info;
print "# $_: $announced->{$_}\n" for sort keys %$announced;
die "the plugin is not for all variants\n" if join(' ', sort @{$plugin->feature_types}) ne 'Feature Intergenic';
die "the plugin is not for variants\n" unless grep { $_ eq 'VariationFeature' } @{$plugin->variant_feature_types};

while (my $line = <STDIN>) {
  next if $line =~ /^#/;
  chomp $line;
  my ($chromosome, $position, $id, @written) = split /\t/, $line;
  my ($ref, @alts) = ($written[0], split /,/, $written[1]);
  my $feature = feature($chromosome, $position, $id eq '-1' ? -1 : 1, $ref, grep { !/^</ } @alts);
  my @of_vep = @{$feature->alt_alleles};
  for my $alt (grep { !/^</ } @alts) {
    my $allele = Bio::EnsEMBL::Variation::VariationFeatureOverlapAllele->new(feature => $feature, sequence => shift @of_vep);
    my $result = $plugin->run($allele);
    ref $result eq 'HASH' or die "run() gave no hash for $line\n";
    exists $announced->{$_} or die "the field $_ is not announced\n" for keys %$result;
    print join("\t", $chromosome, $position, $ref, $alt, map { "$_=$result->{$_}" } sort keys %$result), "\n";
  }
}

# A record as VEP's reader of VCF makes it: where lengths differ, the first base goes if all alleles share it, nothing is
# written as "-", and an insertion ends before it starts.
sub feature {
  my ($chromosome, $start, $strand, @alleles) = @_;
  my $end = $start + length($alleles[0]) - 1;
  my %firsts = map { substr($_, 0, 1) => 1 } @alleles;
  if (keys %firsts == 1 && grep { length($_) != length($alleles[0]) } @alleles) {
    @alleles = map { substr($_, 1) || '-' } @alleles;
    $start++;
  }
  if ($strand < 0) {
    @alleles = map { reverse_complement($_) } @alleles;
  }
  return Bio::EnsEMBL::Variation::VariationFeature->new(
    chr => $chromosome, start => $start, end => $end, strand => $strand, alleles => \@alleles);
}

sub reverse_complement {
  return reverse($_[0]) =~ tr/ACGT/TGCA/r;
}
