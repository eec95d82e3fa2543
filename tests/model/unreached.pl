#!/usr/bin/perl
# unreached.pl DIRECTORY… - what of the model no run has reached, a line each: where it
# is, and the statement as spin has translated it.
#
# A directory has a model (model.pml), what spin has made of it, what gcov says of that
# (pan.m.gcov, pan.c.gcov), and in atomic/ what spin makes of the same model with `atomic` in
# place of `d_step`: the numbers of the statements are the same there, and only there spin
# says on which line each of them stands.
use strict;
use warnings;

my (%reached, %order);

sub lines_of {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    return <$in>;
}

# note WHERE TEXT COUNT: a statement that was executed so often. Numbers that are not the same
# in each model are left out: how many processes there are, which one, and which machine.
sub note {
    my ($where, $text, $count) = @_;
    $text =~ s/\(int\)|now\.|Index|^\s+|\s*;?\s*$//g;
    $text =~ s/, \d+\)/)/g;
    $text =~ s/\[[ \d()+-]+\]/[N]/g;
    $text =~ s/\(\d-1\)/N/g;
    $text =~ s/\b\d+==\d+\b|(?<=< )\d\d(?=;)|(?<== )\d\d(?= - 1;)/N/g;
    $order{"$where: $text"} //= keys %order;
    $reached{"$where: $text"} ||= $count =~ /^[1-9]/ ? 1 : 0;
}

# source DIRECTORY: of each line of the model what it says, with the file if it is not printed by machines.sql.
sub source {
    my ($dir) = @_;
    my ($file, @source) = 'machines.sql';
    my @lines = lines_of("$dir/model.pml");
    for my $k (0 .. $#lines) {
        $file = $1 if ($lines[$k + 1] // '') =~ /^ \* (\w+\.pml) - /;
        push @source, $lines[$k] =~ s/^\s*(.*?)\s*$/$file: $1/sr;
    }
    return \@source;
}

# places DIRECTORY: of each process the lines of its statements, by their numbers. A label has
# the number of its statement less 1, and statements are counted through all processes.
sub places {
    my ($dir) = @_;
    my $pan = join '', lines_of("$dir/atomic/pan.c");
    my @lines;
    while ($pan =~ /^short src_ln(\d+) \[\] = \{\s*([^}]*)\}/mg) {
        my ($k, $numbers) = ($1, $2);
        $lines[$k] = [ split /[\s,]+/, $numbers ];
    }
    my ($names) = $pan =~ /^char \*procname\[\] = \{(.*?)\};/ms;
    my ($k, $before, %places) = (0, 0);
    for my $name ($names =~ /"(\w+)"/g) {
        $places{$name} = [ (0) x $before, @{ $lines[$k] } ];
        $before += @{ $lines[ $k++ ] } - 2;
    }
    return \%places;
}

# promela DIRECTORY: the statements within the steps of the processes.
sub promela {
    my ($dir) = @_;
    my ($source, $places) = (source($dir), places($dir));
    my ($process, $place) = ('');
    for (lines_of("$dir/pan.m.gcov")) {
        my ($count, $text) = /^\s*([^:]+):\s*\d+:(.*)$/ or next;
        $process = $1 if $text =~ m{/\* PROC (\S+) \*/};
        undef $place if $text =~ /^\s*case /;
        if ($text =~ /^S_(\d+)_(\d+):/) {
            $place = $2 == 0 ? $places->{$process}[ $1 + 1 ] : undef;
        }
        elsif ($place && $text =~ /^\s*[\w(]/) {
            # Of a guard the statement behind it says whether it was ever true. What the compiler has left out,
            # since nothing leads to it, is a statement, too.
            note($source->[ $place - 1 ], $text, $count) unless $text =~ /^\s*(if \(!|goto |c_update\()/;
            undef $place;
        }
    }
}

# functions DIRECTORY: the lines of its functions in C.
sub functions {
    my ($dir) = @_;
    my ($inside, $function);
    for (lines_of("$dir/pan.c.gcov")) {
        my ($count, $text) = /^\s*([^:]+):\s*\d+:(.*)$/ or next;
        $inside = $text =~ /start/ if $text =~ m{^/\* (start|end) of c_code};
        $function = $1 if $text =~ /^static .*?(\w+)\(.*\{/;
        note($function, $text, $count) if $inside && $function && $count !~ /^-/;
    }
}

for my $dir (@ARGV) {
    promela($dir);
    functions($dir);
}
# The rows of instances and composites are for both frames, those of a task for this one.
print map { s/ -> row_ends.*//r . "\n" } grep { !$reached{$_} && !/^machines\.sql: (?!.*M_(wait|sync|async).*: row_ends)/ } sort { $order{$a} <=> $order{$b} } keys %order;
