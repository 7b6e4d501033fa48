# Stands in for the class of Ensembl on which plugins that read a table with a tabix index are built, where Ensembl VEP is
# not installed. It follows the public documentation and sources of the plugins' interface: it has the methods that
# packaging/ensembl-vep/Carbon.pm calls, and calls those that the plugin defines. It keeps nothing between look-ups.
package Bio::EnsEMBL::Variation::Utils::BaseVepTabixPlugin;

use strict;
use warnings;

# As the class of Ensembl does: the module if it is installed, or else the program.
our $CAN_USE_HTS_PM = $ENV{STAND_IN_TABIX_PROGRAM} ? 0 : eval { require Bio::DB::HTS::Tabix; 1 } || 0;

sub new {
  my ($class, $config, @params) = @_;
  return bless {
    config => $config,
    params => \@params,
    feature_types => ['Transcript'],
    variant_feature_types => ['VariationFeature'],
  }, $class;
}

sub config { return $_[0]{config} }
sub params { return $_[0]{params} }
sub feature_types { return $_[0]{feature_types} }
sub variant_feature_types { return $_[0]{variant_feature_types} }

# Either all parameters are named or none of them.
sub params_to_hash {
  my $self = shift;
  return {} unless grep { /=/ } @{$self->params};
  my %named;
  for my $param (@{$self->params}) {
    my ($name, $value) = split /=/, $param;
    die "ERROR: Failed to parse parameter $param\n" unless defined $value;
    $named{$name} = $value;
  }
  return \%named;
}

for my $name (qw(expand_left expand_right cache_size)) {
  no strict 'refs';
  *$name = sub {
    my ($self, @value) = @_;
    $self->{$name} = $value[0] if @value;
    return $self->{$name};
  };
}

sub get_user_params {
  my $self = shift;
  my $named = $self->params_to_hash;
  $self->$_($named->{$_}) for grep { exists $named->{$_} } qw(expand_left expand_right cache_size);
}

sub add_file {
  my ($self, $file) = @_;
  die "ERROR: No file specified\n" unless $file;
  die "ERROR: Data file $file not found\n" unless -e $file;
  die "ERROR: Tabix index file $file.tbi not found\n" unless -e "$file.tbi";
  push @{$self->{files}}, $file;
}

# What parse_data() makes of the lines of a region, also those beside it that were read with it.
sub get_data {
  my ($self, $chromosome, $start, $end) = @_;
  die "ERROR: get_data without a place\n" if grep { !$_ } $chromosome, $start, $end;
  my @found;
  for my $file (@{$self->{files}}) {
    my ($from, $to) = ($start - $self->expand_left, $end + $self->expand_right);
    for my $line ($self->lines($file, $chromosome, $from, $to)) {
      my $parsed = $self->parse_data($line, $file) or next;
      push @found, $parsed if $self->get_start($parsed) <= $end && $self->get_end($parsed) >= $start;
    }
  }
  return \@found;
}

sub lines {
  my ($self, $file, $chromosome, $from, $to) = @_;
  my $table = $self->{tables}{$file} ||= $CAN_USE_HTS_PM ? Bio::DB::HTS::Tabix->new(filename => $file) : $file;
  my %names = map { $_ => 1 } $CAN_USE_HTS_PM ? @{$table->seqnames} : output('tabix', '-l', $file);
  my ($name) = grep { $names{$_} } $chromosome, "chr$chromosome", $chromosome =~ s/^chr//ir;
  my $region = sprintf '%s:%d-%d', $name // $chromosome, $from, $to;
  return output('tabix', $file, $region) unless $CAN_USE_HTS_PM;
  my $rows = $table->query($region) or return;
  my @lines;
  while (my $line = $rows->next) {
    push @lines, $line;
  }
  return @lines;
}

sub output {
  open(my $lines, '-|', @_) or die "ERROR: $_[0] cannot be run: $!\n";
  my @lines = <$lines>;
  chomp @lines;
  return @lines;
}

1;
