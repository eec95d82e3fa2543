#!/usr/bin/perl
# damage.pl TOOL FOLDER FILE… - compile and lay out damaged copies of files,
# the same ones every time; print each that the tool did not survive.
use strict;
use warnings;

my ($tool, $folder, @files) = @ARGV;
my @noise = ('{', '}', '(', ')', '[', ']', '"', "'", '"""', '${', '||', ';',
    'forall', 'with', 'if', '/*', '*/', '//', '1h', '..', '?', '.', ',', '=',
    "\\", "\n", 'workflow', 'task', "\xc3\xa4", 'null', 'let x = ');
my $copies = $ENV{DAMAGE} || 6;
srand 1;

sub damage {
    my $text = shift;
    my $at   = int rand length $text;
    my $how  = int rand 4;
    return substr $text, 0, $at if $how == 0;
    substr($text, $at, 1 + int rand 5) = '' if $how == 1;
    substr($text, $at, 0) = $noise[rand @noise] if $how == 2;
    substr($text, $at, 1) = $noise[rand @noise] if $how == 3;
    return $text;
}

for my $file (@files) {
    open my $in, '<', $file or die "cannot read $file: $!\n";
    my $text = do { local $/; <$in> };
    for my $copy (1 .. $copies) {
        my $damaged = $text;
        $damaged = damage($damaged) for 1 .. 1 + int rand 3;
        open my $out, '>', "$folder/damaged.wf" or die "cannot write: $!\n";
        print $out $damaged;
        close $out or die "cannot write: $!\n";
        for my $command ('compile', 'fmt') {
            my $status = system "'$tool' $command -I lib -L lib "
                . "'$folder/damaged.wf' >/dev/null 2>'$folder/damage'";
            next if $status == 0 || $status == 256 && !-s "$folder/damage";
            print "$file, copy $copy, $command: status $status\n";
            system "cp '$folder/damaged.wf' '$ENV{KEEP}/$copy.wf'" if $ENV{KEEP};
        }
    }
}
