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

# survives COMMAND, COPY…: one process for all copies, and for each half of them
# if it ends badly, down to the copy that ended it.
sub survives {
    my ($command, @copies) = @_;
    my $status = system "'$tool' $command -0 -I lib -L lib "
        . join(' ', map {"'$_->{path}'"} @copies) . " >/dev/null 2>'$folder/damage'";
    return 1 if $status == 0 || $status == 256 && !-s "$folder/damage";
    if (@copies > 1) {
        my @half = splice @copies, @copies / 2;
        my $fine = grep { survives($command, @$_) } \@copies, \@half;
        print "$copies[0]{name} to $half[-1]{name}, $command: "
            . "status $status, but not for each half\n" if $fine == 2;
        return 0;
    }
    print "$copies[0]{name}, $command: status $status\n";
    system "cp '$copies[0]{path}' '$ENV{KEEP}'" if $ENV{KEEP};
    return 0;
}

my @damaged;
for my $file (@files) {
    open my $in, '<', $file or die "cannot read $file: $!\n";
    my $text = do { local $/; <$in> };
    for my $copy (1 .. $copies) {
        my $damaged = $text;
        $damaged = damage($damaged) for 1 .. 1 + int rand 3;
        my $path = "$folder/damaged-" . @damaged . '.wf';
        open my $out, '>', $path or die "cannot write: $!\n";
        print $out $damaged;
        close $out or die "cannot write: $!\n";
        push @damaged, { path => $path, name => "$file, copy $copy" };
    }
}
while (my @some = splice @damaged, 0, 500) {
    survives($_, @some) for 'compile', 'fmt';
}
