#!/usr/bin/env perl
# shown.pl PAGE [TO] - run the commands that a page shows, and compare what they print
#
# A block of a page that begins with ```console holds commands, each behind "$ ", and below
# each what it prints. A command that shows no output is run all the same, and has to succeed,
# unless a word of it is cut off (…). A line "…" stands for any number of lines. A command that only looks is
# run again until it prints what is shown, for ten seconds.
#
# Prints a line for each command: "ok" or "bad", a tab, the command; for a bad one all lines
# that it printed, each behind a tab. With TO the page is written there with what was
# printed in place of what was shown wrongly.
#
# SHOWN_WORDS: pairs "real=shown", separated by blanks, such as the port of a service.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use Time::HiRes qw(sleep time);

my $LOOKS = qr/^wf-console (?:-o \S+ )?(?:tree|explain|stuck|list|show|history|log|drivers|groups|rates|inputs|gantt|wait)\b/;
my @words = map { [split /=/, $_, 2] } split ' ', $ENV{SHOWN_WORDS} // '';

# Moments, durations and the width of columns are not the same twice.
sub plain {
    my ($text) = @_;
    for ($text) {
        s/\n {8,}/ /g;    # a text that was wrapped
        s/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[+-]\d\d(?::?\d\d)?|Z)?/TIME/g;
        s/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/TIME/g;
        s/\b\d+(?:\.\d+)?(?: ?(?:ms|s|m|min|h|d))\b/SPAN/g;
        s/,? +SPAN(?: SPAN)?$//mg;    # tree shows none below a second
        s/\bSPAN ago\b|\bnow\b/AGO/g;
        s/_seconds=\d+/_seconds=N/g;
        s/[ \t]+/ /g;
        # in `run` and `stuck`, the number of a process: each session has a portion of its own
        s/^TIME \d+ (?=\W)/TIME ID /mg;
        s/^( ?\d+ \S+ failed \d+) \d+ TIME/$1 ID TIME/mg;
        s/ +$//mg;
        s/\n+\z/\n/;
    }
    return $text;
}

sub real {
    my ($text) = @_;
    $text =~ s/\Q$_->[1]\E/$_->[0]/g for @words;
    return $text;
}

sub shown {
    my ($text) = @_;
    $text =~ s/(?<!\w)\Q$_->[0]\E(?!\w)/$_->[1]/g for @words;
    return $text;
}

sub run {
    my ($command) = @_;
    if ($command =~ s/ &$//) {    # a service of the page's: it lives as long as the test
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            open STDIN,  '<',  '/dev/null'   or die;
            open STDOUT, '>>', 'service.log' or die;
            open STDERR, '>&', \*STDOUT      or die;
            exec 'bash', '-c', "exec $command";
        }
        open my $pids, '>>', 'service.pids' or die;
        print $pids "$pid\n";
        my ($port) = $command =~ /(\d{4,5})/;
        for (1 .. 200) {
            last if system("bash -c 'exec 3<>/dev/tcp/127.0.0.1/$port' 2>service.wait") == 0;
            sleep 0.05;
        }
        return '';    # $? says whether somebody listens
    }
    if ($command =~ /^(wf-console) (watch.*)/) {
        my $terminal = "$ENV{ROOT}/tests/console/terminal.zsh";
        $command = "unset NO_COLOR; zsh -f $terminal 14x100 '$1 --no-color $2' '=waits until' . '!q'"
            . " | grep . | grep -v ^left";
    }
    local $ENV{COMMAND} = $command;
    my $printed = `timeout 60 bash -c "\$COMMAND" 2>&1 </dev/null`;
    utf8::decode($printed) unless utf8::is_utf8($printed);
    return $printed;
}

# What runs side by side may end in any order: the moves that `run` prints. Each connection
# takes the numbers of new processes from a portion of its own (50 a time), and a driver has
# several connections: a process is known by when its number appears first.
sub in_order {
    my ($command, $text) = @_;
    $text =~ s/\b\d+\b/N/g if $command =~ /wf-console (?:retry|resolve|ignore)\b/;    # numbers of processes
    # how much of a label fits depends on how long the names of logins are
    $text =~ s/^ *(\d+) TIME (\d*).* (start|success|fail|retry|end) .*/$1 $2 $3/mg if $command =~ /^wf-console history /;
    my %known;
    my $nth = sub { 'process ' . ($known{$_[0]} //= 1 + keys %known) };
    $text =~ s/^ *(\d+)(?= )/$nth->($1)/mge                if $command =~ /^wf-console tree /;
    $text =~ s/^(\d+) (\d+)(?= )/"$1 " . $nth->($2)/mge if $command =~ /^wf-console history /;
    return $text if $command !~ /^wf-console run /;
    return join '', map { "$_\n" } sort split /\n/, $text;
}

sub matches {
    my ($command, $expected, $printed) = @_;
    return 1 if in_order($command, plain($expected)) eq in_order($command, plain($printed));
    my $pattern = join '', map { $_ eq '…' ? '(?:.*\n)*?' : quotemeta($_) . "\n" } split /\n/, plain($expected);
    return plain($printed) =~ /\A$pattern\z/;
}

sub try_one {
    my ($command, $expected) = @_;
    my $until = time + ($command =~ $LOOKS ? 10 : 0);
    my $printed;
    do {
        $printed = shown(run(real($command)));
        return ($? == 0, $printed) if $expected eq '';
        return (1, $printed) if matches($command, $expected, $printed);
        sleep 0.1;
    } while (time < $until);
    return (0, $printed);
}

my ($page, $to) = @ARGV;
open my $in, '<', $page or die "$page: $!";
my ($inside, $command, $expected, $out) = (0, undef, '', '');

sub finish {
    return unless defined $command;
    if ($command =~ /…/) {
        $out .= $expected;
    } else {
        my ($is_good, $printed) = try_one($command, $expected);
        print $is_good ? 'ok' : 'bad', "\t$command\n";
        print map { "\t$_\n" } split /\n/, $printed unless $is_good;
        $printed =~ s/\n*\z/\n/;
        $out .= $is_good ? $expected : $printed;
    }
    undef $command;
}

$| = 1;
while (my $line = <$in>) {
    if ($line =~ /^```/) {
        finish();
        $inside = !$inside && $line eq "```console\n";
        $out .= $line;
    } elsif ($inside && $line =~ /^\$ (.*)\n/) {
        finish();
        ($command, $expected) = ($1, '');
        $out .= $line;
    } elsif ($inside && defined $command) {
        $expected .= $line;
    } else {
        $out .= $line;
    }
}
if (defined $to) {
    open my $file, '>', $to or die "$to: $!";
    print $file $out;
    close $file or die "$to: $!";
}
